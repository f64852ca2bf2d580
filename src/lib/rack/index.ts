export {listRacks, loadRack, rackPath} from './load.ts'
export {editRack, saveRack} from './save.ts'
export {selectNodes} from './select.ts'
export type {GpuSpec, HeadSpec, Rack, RackNetwork, RackNode, RackSlurm, RackVolume} from './types.ts'
