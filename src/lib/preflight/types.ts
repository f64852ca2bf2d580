import type {Host} from '../host/index.ts'
import type {CheckName} from './checks.ts'

/** A node as the run would use it. */
export interface PreflightNode {
  host: Host
  /** Its own address on the way to the others; undefined for a node alone. */
  address?: string
}

/** What nvidia-smi says of a GPU. Bytes; null where it is not told. */
export interface GpuState {
  index: number
  uuid: string
  name: string
  driver: string
  total: number | null
  used: number | null
  free: number | null
  processes: {pid: number; used: number | null; command: string; user: string | null}[]
}

/** What preflight.run measures of a node by itself (node/flexrack_node/preflight/facts.py). Bytes and numbers; null: no limit. Only what the checks need is there. */
export interface NodeState {
  limits?: {open_files: Limit; locked: Limit; processes: Limit; /** Processes and threads that may still be started. */ tasks_left: number | null; may_lock: boolean}
  shm?: {total: number; free: number} | null
  disks?: {path: string; total: number; free: number; files: number; free_files: number}[]
  ports?: {range: [number, number]; used: number}
  versions?: {environment?: string; python?: string; packages: Record<string, string>; /** Of Open MPI, where that was asked for; null: none. */ mpi?: string | null}
  rdma?: {device: string; port: string; state: string; physical: string; layer: string; rate: string}[]
  gpus?: GpuState[]
  leftovers?: {run: string; pids: number[]; command: string}[]
  /** What could not be measured, and why. */
  missing: Record<string, string>
}

export type Limit = [soft: number | null, hard: number | null]

export interface NodeMeasured {
  node: string
  address?: string
  /** Why nothing, or not everything, is known of it. */
  error?: string
  /** Equal for nodes that share one machine and its network. */
  machine?: string
  interface?: {name: string; up: boolean; mtu?: number; /** Mbit/s. */ speed?: number}
  /** Why it cannot listen at its address. */
  closed?: string
  /** Seconds by which its clock is ahead of ours, and how sure that is. */
  clock?: {ahead: number; within: number}
  state?: NodeState
}

/** What became of connecting from one node to another. */
export interface Way {
  from: string
  to: string
  /** Milliseconds that the connection took to be made; undefined where it failed. */
  ms?: number
  /** refused: rejected. silent: no answer. route: no way there. mute, stranger: something else answers. large: only short messages pass. */
  error?: 'refused' | 'silent' | 'route' | 'mute' | 'stranger' | 'large'
  text?: string
  /** At the port of the run's rendezvous, not at one of those for outgoing connections. */
  rendezvous?: true
}

/** What one TCP stream carried from one node to another. */
export interface Rate {
  from: string
  to: string
  /** Bit/s; undefined where it failed. */
  rate?: number
  text?: string
}

export interface Measured {
  nodes: NodeMeasured[]
  ways: Way[]
  rates: Rate[]
  /** Pairs of nodes on different machines that reach each other, and how many of them there was time to measure the bandwidth of. */
  pairs: {possible: number; measured: number}
  times: PreflightTimes
}

/** Milliseconds. */
export interface PreflightTimes {
  /** Until every node listens. */
  open: number
  reach: number
  bandwidth: number
  /** Waiting for what the nodes measured by themselves meanwhile. */
  facts: number
  total: number
}

/** One thing that would stop a run (error), or may harm it (warning). */
export interface PreflightFinding {
  severity: 'error' | 'warning'
  check: CheckName
  /** The node that it is about; absent: several, named in the message. */
  node?: string
  /** The pair that it is about. */
  pair?: [string, string]
  message: string
  /** A command to paste, or what to change. */
  fix?: string
}

/** What a preflight found. */
export interface PreflightResult {
  /** True without errors. */
  ok: boolean
  nodes: string[]
  checks: CheckName[]
  skipped: CheckName[]
  findings: PreflightFinding[]
  ways: Way[]
  rates: Rate[]
  pairs: {possible: number; measured: number}
  times: PreflightTimes
}
