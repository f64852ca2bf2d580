import type {SharedGpu} from '../placement/index.ts'
import type {MachineFacts} from '../topology/index.ts'

/** What a node is and has, as node.facts measures it (node/flexrack_node/facts/facts.py). Sizes in bytes. A part that could not be read is absent. */
export interface NodeFacts extends MachineFacts {
  hostname?: string
  user?: string
  home?: string
  /** flexrack's folder, absolute. */
  root?: string
  os?: string
  kernel?: string
  architecture?: string
  python?: {version: string; path: string; /** False where `python3 -m venv` would fail. */ venv: boolean}
  cpu?: {
    /** CPUs that programs of this user may use, and which, `0-15`. */
    cores: number
    allowed?: string
    /** Cores a cgroup allows. */
    quota?: number
    /** Those with CPUs. */
    numa_nodes: number
    /** Of the machine. */
    sockets?: number
    physical_cores?: number
    threads?: number
    /** Over the last minute. */
    load: number
    model?: string
  }
  memory?: {total: number; available: number; /** Where a cgroup allows less. */ limit?: number; /** Size of /dev/shm. */ shared?: number}
  disk?: {path: string; total: number; free: number; free_files: number; writable: boolean}
  interfaces?: {name: string; /** `10.0.0.1/24`. */ addresses: string[]; up: boolean; mtu?: number; /** Mbit/s. */ speed?: number}[]
  /** Of programs that are started over SSH; null: no limit. locked_memory in bytes. */
  limits?: Record<'open_files' | 'locked_memory' | 'processes', {soft: number | null; hard: number | null}>
  /** Shares of GPUs that no lease has, where a GPU daemon runs. */
  gpu_daemon?: {state: 'running' | 'stopped' | 'absent'; devices: FreeShare[]}
  containers?: {name: string; path: string; version?: string}[]
  slurm?: SlurmFact | null
  /** By name of the other node: which address of this one reaches it. */
  routes?: Record<string, {to?: string; from?: string; interface?: string | null; error?: string}>
  /** Of the ports asked for: those that nobody can listen on now. */
  taken_ports?: number[]
  /** What could not be measured, and why. */
  missing: Record<string, string>
  /** Seconds since 1970 on the node's clock. */
  clock: number
}

/** What a GPU daemon has left of a device. */
export type FreeShare = SharedGpu

export interface SlurmFact {
  version?: string
  partitions?: {name: string; default: boolean; up: boolean; /** `1-00:00:00`, infinite. */ time_limit: string; nodes: number}[]
  /** This node as Slurm knows it; null: it does not. */
  node?: {name: string; /** idle, mixed, allocated, drained, with a mark where it does not answer. */ state: string; partitions: string[]} | null
  /** Why Slurm could not be asked. */
  problem?: string
}
