// Files of a run that outlive who wrote them: each kind, where it is, the number of its shape, and what it holds beside `schema`, that number. Words in capitals stand for names. Generated from protocol/runfiles.json by `npm run protocol`.
import type {RunOrder} from './order.ts'
import type {Had} from './reservation.ts'
import type {RunAttempt} from './result.ts'
import type {GangPlace} from './run.ts'
import type {Hang, RankStack} from './watch.ts'

/** What a run was started with, and where. */
export interface KeptRunOrder extends RunOrder {
  /** Flexrack's folder on the node. */
  root?: string
  /** FLEXRACK_DATA. */
  data_folder?: string
  /** FLEXRACK_INPUTS. */
  inputs_folder?: string
  /** Of the job's earlier starts, under Slurm. */
  attempts?: RunAttempt[]
}

export type MemberPlace = [string, number]

/** What a run's supervisor is doing. */
export interface RunState {
  status: 'unknown' | 'starting' | 'waiting' | 'running' | 'stopping' | 'recording' | 'ended'
  attempt?: number
  pid?: number
  started?: number
  /** Of the machine, when the supervisor began. */
  boot?: string
  /** The boot whose orderly end has ended the supervisor. */
  down?: string
  /** When that was said. */
  down_at?: number
  /** How often the run was taken up here after a reboot of the node. */
  returned?: number
  /** What it has reserved here. */
  wants?: Had
  gang?: GangPlace | null
  term?: number
  leader?: string
  members?: string[]
  places?: Record<string, MemberPlace>
}

/** Somebody asked for the end of a run. */
export interface StopRequest {
  grace: number
  kill: boolean
  by: string
  /** When its node began to go down, where that is why. */
  at?: number
}

/** A signal that the supervisor of a run under Slurm was sent. */
export interface SignalSeen {
  at: number
  by: string
}

/** Ranks that made no progress, with all their stacks. */
export interface KeptHang extends Hang {
  ranks?: RankStack[]
}

/** What may happen to a run. */
export type RunEventName = 'started' | 'stopping' | 'ended' | 'restarting' | 'refused' | 'joined' | 'no port' | 'link lost' | 'asked about' | 'awaits' | 'put out' | 'put out came back' | 'came back' | 'leaving' | 'lost' | 'leader lost' | 'elected' | 'not elected' | 'follows' | 'stepped down' | 'gang lost' | 'makes room' | 'made room' | 'hang' | 'hang over' | 'checkpoint lost' | 'copied' | 'not copied' | 'copy not used' | 'fetched' | 'not fetched' | 'uploads begun' | 'uploads ended' | 'uploaded again' | 'uploaded' | 'not uploaded' | 'not recorded' | 'reconciled' | 'repaired' | 'no record' | 'record not sent' | 'relay closed' | 'tracking.away' | 'tracking.back' | 'tracking.failed' | 'tracking.full' | 'tracking.refused' | 'tracking.rejected' | 'reservation lost' | 'swept' | 'sampler failed' | 'gpu metrics lost' | 'metrics not written' | 'GPU jobs not written' | 'hardware not recorded' | 'usage not noted' | 'bug'

/** Something that happened to a run, a line of events.jsonl; what else it has depends on the event. */
export type RunEvent = {
  at: number
  event: RunEventName
} & Record<string, unknown>

/** Where the Ray cluster of an attempt is, on the node of its head. */
export interface RayPlace {
  address: string
  /** The port of its dashboard: on loopback, under Slurm at the node's address. */
  dashboard: number
}

/** Somebody asks a node of a Slurm job for its ranks' stacks. */
export interface StackRequest {
  number: string
  rank: number | null
}

/** The answer to the request of that number: stacks, or why there are none. */
export interface StackAnswer {
  number: string
  attempt?: number
  ranks?: RankStack[]
  problem?: string
}

/** Slurm's number of a run's job; `12_7` of task 7 of an array. */
export interface JobNumber {
  job: string
}

/** The nodes of a run's job, and where its leader listens. */
export interface JobGang {
  nodes: string[]
  address: string
  port: number
  hosts: Record<string, string>
  reaches_all: boolean
  /** How often Slurm had started the job before. */
  start?: number
  attempts?: RunAttempt[]
}

/** A job as squeue tells of it. */
export interface QueueRow {
  /** Null while sbatch is at it. */
  job: string | null
  state: string
  reason: string | null
  start: number | null
  nodes: string
  partition: string | null
  source: 'squeue' | 'sacct' | 'records'
  submitted?: number | null
  ended?: number | null
  limit?: number | null
  by?: string | null
  /** As sacct writes it: code and signal, `0:15`. */
  exit?: string | null
  /** How often Slurm has put it back into the queue. */
  restarts?: number
  /** It makes room for another one. */
  preempted?: boolean
}

export interface QueueSeen {
  requested: number
  seen: QueueRow
}

export interface QueueWatched {
  at: number
  sign: number
  since: number
}

export interface QueueError {
  at: number
  code: string
  message: string
  hint: string | null
}

/** What Slurm said last, for all who watch runs of one folder. */
export interface QueueBoard {
  bin: string | null
  jobs: Record<string, QueueSeen>
  watched: Record<string, QueueWatched>
  error: QueueError | null
}

/** A write that the tracking server has not taken yet. */
export interface RelayWrite {
  method: string
  path: string
  type: string
  at: number
  /** Base64. */
  body?: string
  /** Instead: the file beside the journal that has it. */
  file?: string
}

/** A write that the tracking server did not take; `entry` is the line of the journal. */
export interface RelayRejected {
  at: number
  method: string
  path: string
  status: number
  answer: string
  body: string | null
  entry: Record<string, unknown>
}
