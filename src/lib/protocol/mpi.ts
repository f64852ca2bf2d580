// Open MPI on a node. Generated from protocol/mpi.json by `npm run protocol`.
import type {Nothing} from './node.ts'

/** `4.1.4` and `4.1`; null where the node has no Open MPI. */
export interface NodeMpi {
  version: string | null
  series: string | null
}

export interface MpiVerbs {
  /** Which Open MPI is there. */
  'mpi.inspect': {input: Nothing; result: NodeMpi; event: never}
}
