export {planTrain, type TrainPlace, type TrainPlan} from './plan.ts'
export {runPlan, type Trained, type TrainWatch} from './run.ts'
export type {Placement, RunSpec, TrainChoice} from './types.ts'
