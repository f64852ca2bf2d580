// Sweeps, on the head's node. Generated from protocol/sweep.json by `npm run protocol`.
import type {Nothing} from './node.ts'
import type {ProjectName} from './workspace.ts'

export type ParameterValue = number | string | boolean | null

export interface Choices {
  choices: (number | string | boolean)[]
}

export interface ParameterRange {
  min: number
  max: number
  step?: number
  log: boolean
  integer: boolean
}

export type Parameter = Choices | ParameterRange

export interface Pruner {
  name: 'none' | 'asha' | 'hyperband' | 'median'
  warmup?: number
  reduction?: number
  startup?: number
  steps?: number
}

/** What a sweep tries. */
export interface SweepOrder {
  /** Metric of the tracking server. */
  metric: string
  goal: 'maximize' | 'minimize'
  sampler: 'grid' | 'random' | 'tpe' | 'cmaes' | 'qmc' | 'gp'
  pruner: Pruner
  /** Absent: the whole grid, else 20. */
  trials?: number
  parallel: number
  /** Seconds after which no trial is started any more. */
  time?: number
  seed?: number
  parameters: Record<string, Parameter>
  /** Words after the training command, with `{name}` for values; absent: a flag for each. */
  arguments?: string[]
}

/** One trial as the storage has it. Times in seconds since 1970. */
export interface Trial {
  /** From 0. */
  number: number
  /** `running`: asked for and not told yet, whether or not its run goes on just now. */
  state: 'running' | 'complete' | 'pruned' | 'failed'
  params: Record<string, ParameterValue>
  /** The same as the command line gets them. */
  texts: Record<string, string>
  /** The metric at its end; null of a trial that has none. */
  value: number | null
  /** The newest value on the way, where a pruner was told of them. */
  last: number | null
  /** How many of these there are. */
  steps: number
  /** Its run; null while there is none. */
  run: string | null
  /** How often it was started. */
  attempt: number
  started: number | null
  ended: number | null
  /** Why it failed or was pruned. */
  why: string | null
}

/** What makes a sweep. */
export interface SweepRecord {
  project: string
  /** `name@machine` that started it. */
  owner: string
  spec: SweepOrder
  /** The training command, without what the trials add. */
  command: string[]
  /** Its record at the tracking server: the parent of those of its trials. */
  tracked: string
  experiment: string
}

export interface StoredSweep extends SweepRecord {
  sweep: string
  created: number
  /** `interrupted`: nobody drives it, and it is not over. */
  status: 'running' | 'interrupted' | 'finished' | 'stopped' | 'failed'
  /** Who drives it now. */
  driver: string | null
  /** When its trials were written down last. */
  at: number | null
  trials: Trial[]
  /** Share of each parameter in what makes the difference, once the sweep is over and there are enough trials. */
  importance: Record<string, number> | null
}

export interface EngineInput {
  sweep: string
  /** Path of the Python that has Optuna. */
  python: string
  /** Who drives it, for those who are refused. */
  owner: string
  /** Makes the sweep; without it, it has to be there. */
  record?: SweepRecord
  /** What a sweep that is there tries from now on. */
  spec?: SweepOrder
}

export interface AskCommand {
  id: number
  do: 'ask' | 'look'
}

export interface BindCommand {
  id: number
  do: 'bind'
  number: number
  run: string
}

export interface DropCommand {
  id: number
  do: 'drop'
  number: number
}

export interface ReportCommand {
  id: number
  do: 'report'
  number: number
  values: [number, number][]
}

export interface TellCommand {
  id: number
  do: 'tell'
  number: number
  state: 'complete' | 'pruned' | 'failed'
  value?: number
  why?: string
}

export interface FinishCommand {
  id: number
  do: 'finish'
  status: 'finished' | 'stopped' | 'failed' | 'interrupted'
}

/** A line of the body. */
export type EngineCommand = AskCommand | BindCommand | DropCommand | ReportCommand | TellCommand | FinishCommand

export interface EngineReady {
  event: 'ready'
  trials: Trial[]
  limit: number
  stop?: boolean
}

/** The answer to a command. */
export type EngineDone = {
  event: 'done'
  id: number
  stop: boolean
} & Record<string, unknown>

export interface SweepName {
  sweep: string
}

export interface SweepStop {
  sweep: string
  seconds?: number
}

export interface SweepDriver {
  driver: string | null
}

export interface SweepRemoved {
  removed: string
}

export interface SweepVerbs {
  /** A conversation with the engine: commands are lines of the body, and each is answered by an event. */
  'sweep.drive': {input: EngineInput; result: Nothing; event: EngineReady | EngineDone}
  /** Every sweep, newest first. */
  'sweep.list': {input: ProjectName | null; result: StoredSweep[]; event: never}
  /** One sweep. */
  'sweep.show': {input: SweepName; result: StoredSweep; event: never}
  /** Asks who drives it to end it. */
  'sweep.stop': {input: SweepStop; result: SweepDriver; event: never}
  /** Deletes its folder. */
  'sweep.remove': {input: SweepName; result: SweepRemoved; event: never}
}
