export {findManifest, loadManifest, MANIFEST_FILE, readManifest, type LocatedManifest} from './load.ts'
export type {Problem} from '../document/index.ts'
export {readNodeRange} from './node-range.ts'
export type {
  AutosaveSpec,
  CheckpointSpec,
  EndpointSpec,
  IsolateSpec,
  LeasedSpec,
  Manifest,
  ParameterSpec,
  Scheduler,
  SlurmSpec,
  SweepSpec,
  TrackingSpec,
  TrainSpec,
  VolumeWish,
  WorkspaceSpec,
} from './types.ts'
export {parameterVariable} from './sweep-rules.ts'
