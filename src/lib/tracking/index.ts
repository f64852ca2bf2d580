export {openMlflow, type Mlflow} from './mlflow.ts'
export {requestJson, requestStream, type HttpAnswer, type HttpRequest} from './http.ts'
export type {MlflowAddress} from './api.ts'
export type {Transferred} from './artifact-calls.ts'
export type {
  ArtifactEntry,
  Batch,
  Experiment,
  LoggedModel,
  Metric,
  ModelVersion,
  RegisteredModel,
  RunStatus,
  TrackedRun,
} from './types.ts'
