/** Registered models, over MLflow's registry. */
export {modelsOf, planOf, type Models} from './models.ts'
export {resolveVersion} from './resolve.ts'
export {findRun} from './register.ts'
export {parseReference, type ModelReference} from './reference.ts'
export type {Promotion, Removal} from './change.ts'
export type {Registration, RegisterInput} from './register.ts'
export type {Lineage, ModelDetails, ModelSummary} from './show.ts'
