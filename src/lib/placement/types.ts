import type {ShareWish} from './share.ts'
import type {Link, Topology} from '../topology/index.ts'
import type {FreeShare} from '../protocol/index.ts'

/** What a run needs, the same on each of its nodes. */
export interface PlacementRequest {
  /** How many nodes: all of them, or nothing is placed. */
  nodes: number
  /** Ranks on each node. */
  processes: number
  /** GPUs of each rank, nobody else's; 0: it uses none. */
  gpusPerRank: number
  /** Nobody else's run on the nodes. */
  exclusive: boolean
  /** Shares of GPUs, or GPUs of other nodes, will do or are asked for: leases of the GPU daemons. */
  leased?: LeaseWish
}

/**
 * What may be leased. With memory (bytes) or a fraction nothing but shares is asked for; else whole GPUs, where a node
 * has too few of its own.
 */
export interface LeaseWish extends ShareWish {
  /** GPUs of other nodes will do. */
  remote: boolean
  api?: 'cuda' | 'opencl'
}

/** A device, or a share of one, that a rank gets by a lease. */
export interface LeasedGpu {
  /** Whose daemon shares it. */
  node: string
  id: string
  index: number
  name: string
  api: 'cuda' | 'opencl'
  /** Bytes of it. */
  memory: number
}

/** A node that could be taken. */
export interface Candidate {
  node: string
  /** Why it is out of the question, a clause: `it does not answer`; null: it is not. */
  problem: string | null
  /** Null where nothing is known of it, which `problem` then explains. */
  topology: Topology | null
  /** CPUs that programs of this user may use, `0-15`; null: not told, then all. */
  allowed: string | null
  /** Interface through which each other node is reached, by its name; without those that nobody knows. */
  routes: Record<string, string>
  /** What others have there now, in order of arrival, those that wait included: they come first. */
  held: Held[]
  /** Why a GPU is not to be had besides, by UUID, a clause. */
  busy: Record<string, string>
  /** What its GPU daemon shares; absent: nothing. */
  shared?: FreeShare[]
  /** It lends GPUs, and is given nothing to run. */
  lendsOnly?: boolean
  /** Bytes of memory beside the processors that programs could have now; absent: not told. */
  memory?: number
}

export interface Held {
  /** Who, for people: `digits-k3x9a of ada@laptop`. */
  by: string
  /** The run. */
  lease?: string
  gpus: string[]
  /** It has the whole node. */
  exclusive: boolean
  /** It is on this very node, not only on another simulated one of the same machine. */
  here: boolean
}

export interface PlacedGpu {
  index: number
  uuid: string
}

export interface PlacedRank {
  rank: number
  local: number
  /** In the order of their indices. */
  gpus: PlacedGpu[]
  /** NUMA nodes whose CPUs it runs on; empty: it is not bound. */
  numa: number[]
  /** The CPUs, `0-15,32-47`; null: not bound. */
  cpus: string | null
  /** NUMA nodes whose memory it uses: those above that have some. */
  memory: number[]
  /** The card for its traffic to other nodes, and why this one; null: none is known. */
  nic: {name: string; why: 'route' | 'nearest'} | null
  /** Instead of GPUs of the node: what is leased for it, in the order in which it sees them. */
  leased?: LeasedGpu[]
}

export interface PlacedNode {
  node: string
  /** Position in the gang, in the order of the rack file. */
  index: number
  ranks: PlacedRank[]
}

/** What became of a candidate, and why, in one sentence. */
export interface NodeReason {
  node: string
  taken: boolean
  why: string
}

/** A whole gang, or none. `reasons`: one for each candidate, in their order. */
export type PlacementResult =
  | {placed: true; nodes: PlacedNode[]; reasons: NodeReason[]}
  | {placed: false; fit: number; /** Others have what is missing. */ held: boolean; reasons: NodeReason[]}

/** How good a group of GPUs is: its worst link decides, then the sum of all. A single GPU has no link. */
export interface GroupScore {
  worst: number
  sum: number
  /** The worst link; null for a single GPU. */
  link: Link | null
}

/** GPUs by their positions in topology.gpus, ascending. */
export interface Group {
  members: number[]
  score: GroupScore
}
