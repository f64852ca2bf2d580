// Slurm, as its login node tells of it. Generated from protocol/slurm.json by `npm run protocol`.
import type {RunOrder} from './order.ts'
import type {NodeRun} from './run.ts'

export interface SlurmPrograms {
  bin?: string
}

export interface ClusterPartition {
  name: string
  default: boolean
  nodes: number
}

export interface Cluster {
  version: string | null
  partitions: ClusterPartition[]
  /** Seconds between Slurm's own SIGTERM and SIGKILL. */
  kill_wait: number
  /** Ended jobs are kept. */
  accounting: boolean
  pyxis: boolean
  /** Tasks of an array are numbered below this. */
  array: number
}

/** Limits of a job; null: none. */
export interface CheckedPartition {
  name: string
  default: boolean
  up: boolean
  nodes: number
  most_nodes: number | null
  seconds: number | null
  cpus: number | null
  accounts: string[] | null
}

export interface RootFact {
  path: string
  kind: string
  shared: boolean | null
}

/** What a user may have by an account (sacctmgr show associations). `limits`: as Slurm names them, without those that are not set. */
export interface SlurmAssociation {
  account: string
  /** Null: all of them. */
  partition: string | null
  qos: string[]
  limits: Record<string, string>
}

/** Of sshare: numbers from 0 to 1, null where Slurm tells none. */
export interface SlurmShare {
  account: string
  /** What the user is entitled to. */
  share: number | null
  /** What the user had of late. */
  used: number | null
  /** Higher ones come sooner. */
  fair_share: number | null
}

export interface SlurmLimits {
  user: string
  associations: SlurmAssociation[]
  shares: SlurmShare[]
  /** Why it knows less. */
  problem: string | null
}

export interface ClusterFact {
  version: string | null
  partitions: CheckedPartition[]
  /** Those that the user may charge; null where nobody keeps them. */
  accounts: string[] | null
  pyxis: boolean
  root: RootFact
}

export interface SlurmSubmit {
  spec: RunOrder
  script: string
}

export interface SlurmSubmitArray {
  name: string
  tasks: RunOrder[]
  script: string
}

export interface RunNames {
  runs: string[]
}

export interface JobsCancelled {
  cancelled: number
}

export interface SlurmVerbs {
  /** What a run needs to know of the cluster. */
  'slurm.inspect': {input: SlurmPrograms; result: Cluster; event: never}
  /** What decides whether a job can run there. */
  'slurm.check': {input: SlurmPrograms; result: ClusterFact; event: never}
  /** What Slurm's database limits for this account, and its fair share; read only. */
  'slurm.limits': {input: SlurmPrograms; result: SlurmLimits; event: never}
  /** Starts a run as a job. */
  'slurm.submit': {input: SlurmSubmit; result: NodeRun; event: never}
  /** Starts runs as tasks of one job; tells them in the same order. */
  'slurm.submit_array': {input: SlurmSubmitArray; result: NodeRun[]; event: never}
  /** Takes tasks of arrays out of the queue at once. */
  'slurm.cancel': {input: RunNames; result: JobsCancelled; event: never}
}
