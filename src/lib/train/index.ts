export {findAddresses} from './addresses.ts'
export {planTrain, type TrainPlace, type TrainPlan} from './plan.ts'
export {runPlan, type Trained, type TrainWatch} from './run.ts'
export type {GangAddresses, Placement, PreflightChoice, RunSpec, TrainChoice} from './types.ts'
