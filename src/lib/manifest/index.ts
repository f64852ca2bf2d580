export {findManifest, loadManifest, MANIFEST_FILE, readManifest, type LocatedManifest} from './load.ts'
export type {Problem} from '../document/index.ts'
export {readNodeRange} from './node-range.ts'
export type {CheckpointSpec, EndpointSpec, Manifest, Scheduler, SlurmSpec, TrackingSpec, TrainSpec, WorkspaceSpec} from './types.ts'
