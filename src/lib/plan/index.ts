export type {Plan, Step, StepOutcome} from './types.ts'
export {executePlan, throwIfFailed, type StepHandler} from './execute.ts'
