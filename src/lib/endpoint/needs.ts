import type {GpuRequest} from '../gpu/index.ts'

/** What each server of a release needs of its node. */
export interface ServerNeeds {
  /** Leased whenever it starts. */
  gpus?: ServerGpus
  /** Bytes of memory beside the processors that are to be free. */
  memory?: number
}

export interface ServerGpus extends GpuRequest {
  /** Of other nodes, too, where its own has not enough free. */
  remote: boolean
}
