/** GPUs of other machines: the daemons that serve them, who has what, and leases for a command. */
export {attachGpus, planAttach, type Attached, type AttachedLease, type AttachInput} from './attach.ts'
export {openGpus, type GpuNodeReport, type GpuReport, type Gpus} from './gpus.ts'
export {simSettings, type RequestedSim, type BackendWish} from './backend.ts'
export type {BenchedGpu} from './bench.ts'
export {gpuRequest, type RequestedGpus} from './request.ts'
export {leaseForRun, type RunLeases} from './run-leases.ts'
export type {Served} from './serve.ts'
export type {GpuDevice, GpuNode, GpuRequest, Holder, Lease} from './types.ts'
