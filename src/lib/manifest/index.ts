export {findManifest, loadManifest, MANIFEST_FILE, readManifest, type LocatedManifest} from './load.ts'
export type {Problem} from '../document/index.ts'
export type {EndpointSpec, Manifest, ParameterSpec, Scheduler, SlurmSpec, SweepSpec, TrackingSpec, TrainSpec, WorkspaceSpec} from './types.ts'
export {parameterVariable} from './sweep-rules.ts'
