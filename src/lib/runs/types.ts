import type {Hang, Pace} from './watched.ts'

/** A run as one of its nodes tells of it. Times in seconds since 1970, by the node's clock. */
export interface NodeRun {
  run: string
  project: string | null
  node: string
  /** Position of the node in the gang; 0 leads at first. */
  index: number
  /** Which leader of the run, counted from 1, the node knows to be the newest. */
  epoch: number
  /** Name of the node that leads in it: first that of index 0, and where it is lost one that a majority of the others chose. Under Slurm the node that tells. */
  leader: string
  /** It has the leader's judgement of how the run ended. False also where the node only lost its gang, or its supervisor died. */
  judged: boolean
  /** Another of its nodes can lead it on where its leader is lost. */
  replaceable: boolean
  nodes: string[]
  /** Those of them that have ranks in the newest attempt; the others are spares, or lost. */
  members?: string[]
  /** Ranks a node. */
  processes: number
  launcher: 'torchrun' | 'mpi' | 'plain'
  created: number
  status: NodeRunStatus
  attempt: number
  /** Its supervisor is alive. */
  live: boolean
  exit: number | null
  cause: Cause | null
  started: number | null
  ended: number | null
  /** Whether the tracking server has everything; null while it runs. */
  recorded: boolean | null
  /** Id of the tracking server's run. */
  tracked: string | null
  /** Where the first leader listens for the others. */
  gang?: {address: string; port: number} | null
  /** Of a run that Slurm placed. */
  slurm?: SlurmState
}

/** What Slurm says of a run's job. */
export interface SlurmState {
  /** Null while it is being submitted. */
  job: string | null
  /** As squeue names it, `PENDING`; null where Slurm never told. */
  state: string | null
  /** Why it waits: `Resources`, `Priority`. */
  reason: string | null
  /** When it began, or is expected to begin; seconds since 1970, by the login node's clock. */
  start: number | null
  partition: string | null
  /** Who said so; `records`: Slurm has forgotten the job, and this is what the run's files tell. */
  source: 'squeue' | 'sacct' | 'records'
  /** How many nodes were asked for. */
  nodes: number
  /** How often Slurm has put the job back into its queue to start it again, and why the last time, where that is known; null: never. */
  requeued: {times: number; why: string | null} | null
}

export type NodeRunStatus = 'starting' | 'waiting' | 'running' | 'stopping' | 'recording' | 'finished' | 'failed' | 'stopped'

/** Why a run failed: the first failure that was not a consequence of another. */
export interface Cause {
  kind: 'rank' | 'launcher' | 'gang' | 'slurm' | 'hang'
  node: string
  rank: number | null
  exit: number | null
  /** Name without SIG. */
  signal: string | null
  at: number
  message: string | null
  /** Last lines of the rank's log. */
  lines: string[]
  /** Ranks that failed as a consequence. */
  others: number[]
}

/** The record a rank wrote. Without `exit` it is running, or was killed with everything around it. */
export interface RankRecord {
  rank: number
  local_rank: number
  node: string
  pid: number
  started: number
  ended?: number
  exit?: number
  signal?: string | null
  /** CPU time of it and its children, once it has ended. Seconds. */
  cpu?: number
  /** What it was bound to, where that was chosen: CPUs and memory, or why not; GPUs by UUID, or as `GPU0 of gpu2` where they are leased. */
  bound?: {cpus: string; memory: string; gpus?: string[]}
  /** Its own record is missing; this is what is known. */
  presumed?: boolean
}

/** One start of the whole group. Times in seconds since 1970. */
export interface RunAttempt {
  attempt: number
  status: string
  started?: number
  ended?: number
  cause?: Cause | null
  survivors?: Record<string, number[]>
  /** Nodes that were lost in it. */
  lost?: string[]
  /** Its nodes, in the order of their ranks. */
  nodes?: string[]
  /** Why it was made: `start`, `a rank failed`, `c takes the place of b`. */
  why?: string
  /** What became of the nodes after it, where some were lost, or that Slurm started the job again; such an attempt uses up no restart. */
  changes?: string
  /** The checkpoint that it began with, and the node that had it. */
  checkpoint?: {name: string; node: string; at: number} | null
  /** The most steps that one of its ranks made; null where none tells. */
  steps?: number | null
  /** How fast each rank was; null of all attempts but the last. */
  pace?: Pace | null
}

export interface RunResult {
  status: 'finished' | 'failed' | 'stopped'
  exit: number
  cause: Cause | null
  attempts: RunAttempt[]
  started: number
  ended: number
  /** Seconds, from the supervisor's start. */
  duration: number
  outputs?: string[]
  recorded: boolean
  /** Whose judgement it is, and of which epoch; results of older versions lack both. */
  leader?: string
  epoch?: number
  /** No leader's judgement: the node lost its gang, or the leader was cut off from the majority. */
  partial?: boolean
  /** No leader's judgement: its supervisor died. */
  lost?: boolean
  /** Of a run that Slurm placed: how its job ended. */
  slurm?: {job: string | null; state: string | null; source: SlurmState['source']; requeued?: SlurmState['requeued']}
}

export interface NodeRunDetail extends NodeRun {
  command: string[]
  environment: string | null
  commit: string | null
  /** Absolute path of the run's folder there. */
  folder: string
  /** By attempt and rank. */
  records: Record<string, Record<string, RankRecord>>
  /** Pids of the run's ranks, and of what they started, that are alive there. */
  alive: number[]
  result: RunResult | null
  /** When ranks made no progress; on the node that leads. */
  hangs?: Hang[]
}

/** A run that is to be found: its id, and the nodes that know it, in the order of its gang. */
export interface FoundRun {
  run: string
  nodes: NodeRun[]
  /** Nodes that were asked and have nothing of it: it was never started there, so nobody there can lead it. */
  absent?: string[]
  /** Nodes of it that the rack has no more: nobody waits for their word. */
  removed?: string[]
}
