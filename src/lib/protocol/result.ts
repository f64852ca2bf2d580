// How a run ended: result.json, and the records of its ranks. Times in seconds since 1970, by the node's clock. Generated from protocol/result.json by `npm run protocol`.

/** Why a run failed: the first failure that was not a consequence of another. */
export interface Cause {
  kind: 'rank' | 'launcher' | 'gang' | 'slurm' | 'hang' | 'upload'
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
  /** A node was lost: it is silent, its supervisor was killed, some of the others do not reach it, or it was rebooted. */
  lost?: 'node' | 'supervisor' | 'link' | 'reboot'
  /** So many attempts in a row made no progress. */
  stuck?: number
}

/** Whether Slurm has put a job back into its queue; why, where that is known. */
export interface Requeued {
  times: number
  why: string | null
}

/** What a rank was bound to: CPUs and memory, or why not; GPUs by UUID, or as `GPU0 of gpu2` where they are leased. */
export interface RankBound {
  cpus: string
  memory: string
  gpus?: string[]
}

/** What PyTorch's elastic launcher wrote of a rank's exception. */
export interface RankError {
  message?: string | null
  at?: number | null
}

export interface UploadDone {
  to: string
  files: number
  bytes: number
  /** That were not followed. */
  links: number
}

/** How far the uploads of an attempt are on a node. */
export interface RunUploaded {
  status: 'running' | 'done' | 'failed'
  uploads: UploadDone[]
  why: string | null
}

/** The record that a rank wrote. Without `exit` it is running, or was killed with everything around it. */
export interface RankRecord {
  rank: number
  local_rank: number
  node: string
  attempt?: number
  /** Process that started it and waits for it. */
  wrapper?: number
  /** Of its numbers of processes, where it ran in a sandbox; a reader outside knows them by others. */
  namespace?: string
  /** Missing where its program could not be started. */
  pid?: number
  /** When `pid` was started, in clock ticks since boot (proc(5)): a later process with that number is another. */
  born?: number
  started: number
  ended?: number
  exit?: number
  signal?: string | null
  /** CPU time of it and its children, once it has ended. Seconds. */
  cpu?: number
  bound?: RankBound
  error?: RankError | null
  /** Last lines of its log. */
  tail?: string[]
  /** Its own record is missing; this is what is known. */
  presumed?: boolean
  /** It ended because the attempt was being ended. */
  stopped?: boolean
}

export interface CheckpointAt {
  name: string
  node: string
  at: number
}

/** The newest checkpoint that there was after an attempt; `name` is missing where there was none. Its time is in nanoseconds. */
export interface CheckpointReached {
  name?: string
  node?: string
  at: number
  bytes?: number
  /** Address and port at which the node gives it away; null where none is known. */
  place?: [string, number] | null
}

/** One start of the whole group. */
export interface RunAttempt {
  attempt: number
  status: 'finished' | 'failed' | 'stopped'
  started?: number
  ended?: number
  cause?: Cause | null
  /** Pids that outlived SIGKILL, by node. */
  survivors?: Record<string, number[]>
  /** Nothing is left of it, and no node was lost. */
  clean?: boolean
  /** Nodes that were lost in it. */
  lost?: string[]
  /** Its nodes, in the order of their ranks. */
  nodes?: string[]
  /** Why it was made: `start`, `a rank failed`, `c takes the place of b`. */
  why?: string
  /** What became of the nodes after it, where some were lost, or that Slurm started the job again; such an attempt uses up no restart. */
  changes?: string
  /** The checkpoint that it began with, and the node that had it. */
  checkpoint?: CheckpointAt | null
  reached?: CheckpointReached | null
  /** The most steps that one of its ranks made; null where none tells. */
  steps?: number | null
  /** How fast each rank was; null of all attempts but the last. */
  pace?: Pace | null
  /** Slurm took the nodes away, and starts the job again. */
  requeued?: RequeuedWhy
}

export interface RequeuedWhy {
  why: string | null
}

/** How the job of a run ended that Slurm placed. */
export interface SlurmEnd {
  job: string | null
  state: string | null
  source: 'squeue' | 'sacct' | 'records'
  requeued?: Requeued | null
}

/** What a gang came to: a result without what does not depend on the gang. */
export interface GangOutcome {
  status: 'finished' | 'failed' | 'stopped'
  cause: Cause | null
  attempts: RunAttempt[]
  /** Who committed it, and in which term; results of older versions lack both. */
  leader?: string
  term?: number
  /** Not committed by a leader: the node lost its gang, or the leader was cut off from the majority. */
  partial?: boolean
  /** Not committed by a leader: its supervisor died. */
  lost?: boolean
  /** It never started: what refused it. */
  refused?: string
  refused_code?: string
  /** Of a run that Slurm placed. */
  slurm?: SlurmEnd
  requeued?: RequeuedWhy
  /** Slurm says how it ended once the job is over. */
  provisional?: boolean
  /** It may be started again by Slurm: its record is not closed. */
  open?: boolean
}

/** result.json: how a run ended. */
export interface RunResult extends GangOutcome {
  run?: string
  exit: number
  started: number
  ended: number
  /** Seconds, from the supervisor's start. */
  duration: number
  outputs?: string[]
  recorded: boolean
  /** The other nodes' parts are there, too. */
  recorded_everywhere?: boolean
  /** The record was completed after the head had been away. */
  reconciled?: boolean
}

export type NodeRunStatus = 'starting' | 'waiting' | 'running' | 'stopping' | 'recording' | 'finished' | 'failed' | 'stopped'

/** How fast the ranks of an attempt were. Times in seconds a step. */
export interface Pace {
  ranks: RankPace[]
  /** The rank that the others waited for; null where none was slower worth telling. */
  slowest: SlowestRank | null
}

export interface SlowestRank {
  rank: number
  node: string
  own: number
  /** Median of the other ranks. */
  others: number
  factor: number | null
  /** Part of each step that the others wait for it; 0 where they do not meet. */
  loss: number
  why: string
  message: string
}

/** As its node knows it. */
export interface PaceOfRank {
  steps: number
  /** Median. */
  step: number
  /** Median of the part outside of collectives: what differs between ranks in lock step. */
  own: number
  /** Mean waiting for data. */
  data: number
  /** Median of the part in collectives. */
  collectives: number
  /** Whether it was in collectives at all. */
  synced: boolean
  /** In all: first dimension of the batches for training; 0 where that is not known. */
  samples: number
  /** Mean of being ready without a CPU. */
  cpu_wait: number
  /** Mean of being held back by a CPU limit. */
  throttled: number
}

export interface RankPace extends PaceOfRank {
  rank: number
  node: string
}
