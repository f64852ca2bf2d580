// What is seen of a run while it goes: progress, pace, hangs, stacks, and what it uses. Generated from protocol/watch.json by `npm run protocol`.
import type {WaitingEvent} from './environment.ts'
import type {NodeRunStatus} from './result.ts'

/** What stacks tell of ranks that made no progress. */
export interface HangVerdict {
  /** One sentence: who waits in what, and who has not come. */
  message: string
  /** Without progress until then. */
  seconds: number
  /** Who keeps the others waiting. */
  suspects: HangSuspect[]
  /** The most telling lines of stacks, at most three. */
  lines: string[]
  /** What ranks wait in. */
  waiting?: WaitingRanks[]
}

/** Ranks that made no progress, as the run's leader saw it. */
export interface Hang extends HangVerdict {
  number: number
  attempt: number
  /** Seconds since 1970. */
  at: number
  action: 'report' | 'restart' | 'stop'
  /** Nodes that told nothing. */
  silent: string[]
}

/** Ranks that wait in the same collective operation. */
export interface WaitingRanks {
  collective: string
  number: number
  ranks: number[]
}

export interface HangSuspect {
  rank: number
  node: string
  why: string
}

export interface StackFrame {
  file: string
  line: number | null
  function: string
}

export interface StackThread {
  main: boolean
  name: string | null
  frames: StackFrame[]
}

export interface KernelView {
  wchan: string | null
  stack: string[]
}

/** What a rank tells of itself, by the names of its progress file. Times in seconds, moments since 1970 (0: never). */
export interface RankProgress {
  pid: number
  started_at: number
  updated_at: number
  steps: number
  step_at: number
  first_step_at: number
  step_seconds: number
  batches: number
  batch_at: number
  samples: number
  tokens: number
  data_wait: number
  data_since: number
  collectives: number
  collectives_done: number
  collective_at: number
  collective_seconds: number
  evaluated: number
  own_seconds: number
  /** Name of what it waits in; empty where in none. */
  collective: string
  last_collective: string
  /** Of up to 64 steps spread evenly over all; null before the second. */
  median_step: number | null
  median_own: number | null
  median_collectives: number | null
}

/** What a rank was at, at one moment. */
export interface RankStack {
  rank: number
  node: string
  pid: number
  /** As in proc(5): R runs, S sleeps, D waits for a device, T is stopped. */
  state: string
  /** CPUs in use just then. */
  cpu: number
  /** Folder that it was started in; frames below it are shown without it. */
  cwd?: string | null
  source: 'faulthandler' | 'py-spy' | 'kernel'
  /** The main thread first. Empty where nobody could tell. */
  threads: StackThread[]
  kernel: KernelView
  /** What it told of itself; null where it does not. */
  progress: RankProgress | null
  /** What PyTorch's flight recorder has of its collectives; null where there is none. */
  flight?: unknown
  /** Why there are no stacks. */
  note: string | null
}

export interface SilentNode {
  node: string
  message: string
}

/** What a node tells; under Slurm the login node for all nodes of the job. */
export interface NodeStacks {
  node: string
  attempt: number
  ranks: RankStack[]
  failed?: SilentNode[]
}

/** Means and totals of an attempt on a node. */
export interface AttemptHardware {
  since?: number
  until?: number
  seconds: number
  /** Percent of all CPUs. */
  cpu: number | null
  memory: number | null
  /** Bytes in and out. */
  net: [number, number]
  rdma: [number, number] | null
  disk?: [number, number]
  ranks: Record<string, RankHardware>
  gpus: Record<string, GpuHardware>
}

export interface RankHardware {
  seconds: number
  cpu: number | null
  memory?: number | null
  peak: number
}

export interface GpuHardware {
  seconds: number
  used: number | null
  memory?: number | null
  power?: number | null
  peak: number
  uuid?: string | null
  total?: number | null
}

/** hardware.json. */
export interface NodeHardware {
  /** Equal for nodes that share one machine and its network; missing in runs of older versions. */
  machine?: string
  /** The one that was counted; null: all but loopback. */
  interface: string | null
  gpus: string[] | null
  cores: number | null
  memory_total?: number | null
  attempts: Record<string, AttemptHardware>
}

/** What a node kept of a run. */
export interface MeasuredPart {
  node: string
  index: number
  hardware: NodeHardware | null
  /** By attempt and rank; only ranks that told something of themselves. */
  attempts: Record<string, Record<string, RankProgress>>
}

/** A line of hardware.jsonl. */
export interface HardwareSample {
  /** Seconds since 1970, and since the sample before. */
  t: number
  s: number
  attempt: number
  cpu: number | null
  memory: number | null
  net: [number, number]
  rdma: [number, number] | null
  disk: [number, number]
  ranks: Record<string, [number, number, number, number, number]>
  gpus: Record<string, [number | null, number | null, number | null, number | null]>
  /** How long the log of each rank was at the end, in bytes; absent: nobody looked. */
  logs?: Record<string, number>
}

/** The collective is the one that it waits in; times in seconds, the last one since 1970. */
export type RankReported = [number, number, number, number | null, number, number, number, number, string]

/** What one node tells of its part of a run. */
export interface NodePart {
  node: string
  term: number
  leader: string
  status: 'ended' | 'unknown' | NodeRunStatus
  attempt: number
  cores: number | null
  memory_total: number | null
  /** Bytes of each GPU, by index. */
  gpu_memory: Record<string, number | null>
  /** By rank; null for one that tells nothing of itself. */
  ranks: Record<string, RankReported | null>
  /** The newest line of hardware.jsonl; null where there is none, or it was told already. */
  hardware: HardwareSample | null
}

export interface WatchEvent {
  event: 'watch'
  at: number
  parts: NodePart[]
}

export interface WatchInput {
  run: string
  every?: number
}

export interface WatchEnd {
  over: boolean
}

export interface StacksInput {
  run: string
  rank?: number | null
}

/** As the node reaches it; `token` opens it, and the cluster. */
export interface NodeDashboard {
  /** Its loopback; under Slurm the address of the job's first node. */
  host: string
  port: number
  token: string
}

export interface RunName {
  run: string
}

export interface WatchVerbs {
  /** How far the ranks are, now and then until the run is over. */
  'run.watch': {input: WatchInput; result: WatchEnd; event: WatchEvent}
  /** What was kept of a run: a part a node. */
  'run.measured': {input: RunName; result: MeasuredPart[]; event: never}
  /** Where the dashboard of a run's cluster is, on the node that has its head. */
  'run.dashboard': {input: RunName; result: NodeDashboard; event: never}
  /** The stacks of the ranks, right now. */
  'run.stacks': {input: StacksInput; result: NodeStacks; event: WaitingEvent}
}
