/** Recipes of model servers, as data: runtimes/<name>/recipe.yaml. */
export {loadRecipe} from './load.ts'
export {rangeOf, worksWith} from './python.ts'
export {renderRecipe} from './render.ts'
export type {Recipe, RecipeValues, RenderedRecipe} from './types.ts'
