import {CliError} from '../base/index.ts'
import type {Recipe, RecipeValues, RenderedRecipe} from './types.ts'

/** Fills in the placeholders. Pure. RECIPE_INVALID names a placeholder that does not exist. */
export function renderRecipe(recipe: Recipe, values: RecipeValues): RenderedRecipe {
  const known = placeholders(values)
  const fill = (text: string): string =>
    text.replace(/\{([a-z_]+(?::[a-z]+)?)\}/g, (_, name: string) => String(valueOf(name, known, recipe)))
  const fillJson = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const alone = /^\{(port(?::[a-z]+)?)\}$/.exec(value)?.[1]
      return alone ? valueOf(alone, known, recipe) : fill(value)
    }
    if (Array.isArray(value)) return value.map(fillJson)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, fillJson(part)]))
    return value
  }
  const files = Object.entries(recipe.files).map(([name, content]) => {
    if ('json' in content) return [name, `${JSON.stringify(fillJson(content.json), null, 2)}\n`]
    return [name, content.filled ? fill(content.text) : content.text]
  })
  return {
    files: Object.fromEntries(files) as Record<string, string>,
    argv: recipe.start.argv.map(fill),
    env: Object.fromEntries(Object.entries(recipe.start.env).map(([key, text]) => [key, fill(text)])),
    readyPath: fill(recipe.ready.path),
  }
}

function placeholders({ports, ...values}: RecipeValues): Map<string, string | number> {
  const known = new Map<string, string | number>([
    ['python', values.python],
    ['environment', values.environment],
    ['folder', values.folder],
    ['host', values.host],
    ['model', values.model],
    ['version', values.version],
    ['model_file', values.modelFile],
    ['model_folder', values.modelFolder],
  ])
  for (const [name, port] of Object.entries(ports)) known.set(`port:${name}`, port)
  const first = Object.values(ports)[0]
  if (first !== undefined) known.set('port', first)
  return known
}

function valueOf(name: string, known: ReadonlyMap<string, string | number>, recipe: Recipe): string | number {
  const value = known.get(name)
  if (value !== undefined) return value
  throw new CliError('RECIPE_INVALID', `the runtime ${recipe.name} uses {${name}}, which stands for nothing`, {
    hint: `there are: ${[...known.keys()].map((key) => `{${key}}`).join(', ')}`,
  })
}
