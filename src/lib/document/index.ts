/** YAML files with positions: the only reader of YAML, used by manifest and rack. */
export {readSource, type ReadOptions} from './read.ts'
export {validateSource, type NotYet} from './validate.ts'
export {problemAt, problemsError} from './problem.ts'
export {nearestName} from '../base/index.ts'
export type {Path, Problem, Source, Span} from './types.ts'
export {SLURM_OPTION, SLURM_OPTION_RULE} from './slurm-option.ts'
export {makeReference, type Reference} from './reference.ts'
