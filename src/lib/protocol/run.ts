// Runs: what a node is asked to run, and what it tells of that. Times in seconds since 1970, by the node's clock. Generated from protocol/run.json by `npm run protocol`.
import type {Launcher, RunCode, RunData, RunOrder, RunUpload} from './order.ts'
import type {Had} from './reservation.ts'
import type {Cause, NodeRunStatus, RankRecord, Requeued, RunResult, RunUploaded} from './result.ts'
import type {Hang, RunName} from './watch.ts'

/** What Slurm says of a run's job. */
export interface SlurmState {
  /** Null while it is being submitted. */
  job: string | null
  /** As squeue names it, `PENDING`; null where Slurm never told. */
  state: string | null
  /** Why it waits: `Resources`, `Priority`. */
  reason: string | null
  /** When it began, or is expected to begin. */
  start: number | null
  partition: string | null
  /** Who said so; `records`: Slurm has forgotten the job, and this is what the run's files tell. */
  source: 'squeue' | 'sacct' | 'records'
  /** How many nodes were asked for. */
  nodes: number
  /** How often Slurm has put the job back into its queue to start it again, and why the last time; null: never. */
  requeued: Requeued | null
}

export interface GangPlace {
  address: string
  port: number
}

/** A run as one of its nodes tells of it. */
export interface NodeRun {
  run: string
  project: string | null
  node: string
  /** Position of the node in the gang; 0 leads at first. */
  index: number
  /** Which leader of the run, counted from 1, the node knows to be the newest. */
  term: number
  /** Name of the node that leads in it: first that of index 0, and where it is lost one that a majority of the others chose. Under Slurm the node that tells. */
  leader: string
  /** It has the result that the leader committed. False also where the node only lost its gang, or its supervisor died. */
  committed: boolean
  /** Another of its nodes can lead it on where its leader is lost. */
  replaceable: boolean
  nodes: string[]
  /** Those of them that have ranks in the newest attempt; the others are spares, or lost. */
  members?: string[]
  /** Ranks a node. */
  processes: number
  launcher: Launcher
  created: number
  status: NodeRunStatus
  attempt: number
  /** Its supervisor is alive, or is about to be started again after a reboot. */
  live: boolean
  /** How often it went on here after a reboot of the node. */
  returned?: number
  exit: number | null
  cause: Cause | null
  started: number | null
  ended: number | null
  /** Whether the tracking server has everything; null while it runs. */
  recorded: boolean | null
  /** Id of the tracking server's run. */
  tracked: string | null
  /** Where the first leader listens for the others. */
  gang?: GangPlace | null
  /** Of a run that Slurm placed. */
  slurm?: SlurmState
}

export interface NodeRunDetail extends NodeRun {
  command: string[]
  environment: string | null
  commit: string | null
  data?: RunData[]
  /** What its nodes are to copy to buckets. */
  uploads?: RunUpload[]
  /** How far this node is with that, in the last attempt. */
  uploaded?: RunUploaded | null
  code?: RunCode | null
  /** Absolute path of the run's folder. */
  folder: string
  /** By attempt and rank. */
  records: Record<string, Record<string, RankRecord>>
  /** Pids of the run's ranks, and of what they started, that are alive. */
  alive: number[]
  result: RunResult | null
  /** When ranks made no progress; on the node that leads. */
  hangs?: Hang[]
}

export interface RunQuestion {
  run: string
  wait?: number
}

export interface FollowInput {
  run: string
  follow?: boolean
  offsets?: Record<string, number>
  news?: number
}

export interface ChunkEvent {
  event: 'chunk'
  attempt: number
  file: string
  node?: string
  offset: number
  data: string
}

/** state.json. */
export interface StateEvent {
  event: 'state'
  status: string
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
  places?: Record<string, [string, number]>
  ended: boolean
}

/** Whole lines of events.jsonl. */
export interface NewsEvent {
  event: 'news'
  offset: number
  lines: string
}

/** What the queue says, at every change. */
export interface QueueEvent {
  event: 'queue'
  job: string | null
  state: string
  reason: string | null
  start: number | null
  requeued: Requeued | null
}

/** Nothing new: a caller that has gone is noticed by it. */
export interface BeatEvent {
  event: 'beat'
}

export interface RunStop {
  run: string
  grace?: number
  kill?: boolean
}

/** `state`: how it is there after that; not under Slurm, where the node speaks for all of the run's `nodes`. */
export interface RunStopped {
  status: NodeRunStatus
  left: number[]
  nodes?: string[]
  state?: NodeRun
}

export interface RunToRemove {
  run: string
  /** Whether `kept` is wanted. */
  measure?: boolean
}

/** What is left on the node of runs of the same owner and project. */
export interface KeptHere {
  owner: string
  project: string
  bytes: number
}

export interface RunRemoved {
  removed: string
  kept?: KeptHere
}

export interface ReconcileInput {
  run: string
  upstream?: string | null
  token?: string | null
  authorization?: string | null
  ca?: string | null
  seconds?: number
  leads?: boolean
}

export interface Reconciled {
  recorded: boolean
  why?: string
}

/** A write that the tracking server has not taken, though the run's relay had acknowledged it. */
export interface UnsentWrite {
  /** MLflow's call, or `artifact NAME`. */
  call: string
  /** HTTP status of the server's answer; 0: the line of the journal could not be read. */
  status: number
  answer: string
  at: number
}

/** What a node holds; `writes` are the newest. */
export interface NodeUnsent {
  count: number
  writes: UnsentWrite[]
}

export interface RunRepaired {
  sent: number
  pending: number
  unsent: NodeUnsent
}

export interface RouteQuestion {
  to?: string
}

export interface NodeAddress {
  name: string
  address: string
  netmask: string
}

export interface NodeRoute {
  /** Equal for two nodes that are one machine in one network namespace. */
  machine: string
  interfaces: NodeAddress[]
  /** Source address of the default route. */
  outgoing: string | null
  /** Source address of the route to the address that was asked for. */
  source: string | null
}

export interface RunVerbs {
  /** Starts the run's supervisor; again for the same run it only tells how it is. */
  'run.start': {input: RunOrder; result: NodeRun; event: never}
  /** Everything that is known of a run. */
  'run.state': {input: RunQuestion; result: NodeRunDetail; event: never}
  /** Every run of the node, oldest first. */
  'run.list': {input: null; result: NodeRun[]; event: never}
  /** The logs of the run's ranks, as they grow. */
  'run.follow': {input: FollowInput; result: NodeRunDetail; event: ChunkEvent | StateEvent | NewsEvent | QueueEvent | BeatEvent}
  /** Ends the ranks. */
  'run.stop': {input: RunStop; result: RunStopped; event: never}
  /** Deletes the run's folder. */
  'run.remove': {input: RunToRemove; result: RunRemoved; event: never}
  /** Completes the tracking record of a run that has ended while the head was away. */
  'run.reconcile': {input: ReconcileInput; result: Reconciled; event: never}
  /** What the tracking server has not taken. */
  'run.unsent': {input: RunName; result: NodeUnsent; event: never}
  /** Sends all of that once more. */
  'run.repair': {input: ReconcileInput; result: RunRepaired; event: never}
  /** At which addresses the node reaches others. */
  'run.route': {input: RouteQuestion | null; result: NodeRoute; event: never}
}
