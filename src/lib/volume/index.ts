/** Volumes: folders of nodes that the rack file lets programs of projects have. */
export {nodesWith, volumeVariables, volumesFor} from './choose.ts'
export {needVolumes, VOLUME_HANDLERS, volumeSteps, type VolumeKinds} from './look.ts'
