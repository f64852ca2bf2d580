export type {FromEnv, FromStep, Handlers, KindsOf, Outputs, Plan, PlanOf, Step, StepOf, StepOutcome} from './types.ts'
export {executePlan, throwIfFailed, valuesOf} from './execute.ts'
export {fill, fromEnv, fromStep} from './reference.ts'
