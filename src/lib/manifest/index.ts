export {findManifest, loadManifest, MANIFEST_FILE, readManifest, type LocatedManifest} from './load.ts'
export type {Problem} from '../document/index.ts'
export {readNodeRange} from './node-range.ts'
export {readReplicaRange, type ReplicaRange} from './replica-range.ts'
export type {
  AutosaveSpec,
  CheckpointSpec,
  EndpointSpec,
  IsolateSpec,
  LeasedSpec,
  Manifest,
  ParameterSpec,
  Scheduler,
  ScaleSpec,
  SlurmSpec,
  SweepSpec,
  TrackingSpec,
  TrainSpec,
  VolumeWish,
  WorkspaceSpec,
} from './types.ts'
export {parameterVariable} from './sweep-rules.ts'
