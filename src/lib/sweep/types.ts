import type {Background} from '../background/index.ts'
import type {SweepSpec} from '../manifest/index.ts'
import type {CheckName} from '../preflight/index.ts'

/** One trial as the storage on the head's node has it. Times in seconds since 1970, by that node's clock. */
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

export type ParameterValue = number | string | boolean | null

/** A sweep as the head's node knows it. */
export interface Sweep {
  sweep: string
  project: string
  /** `name@machine` that started it. */
  owner: string
  created: number
  spec: SweepSpec
  /** The training command, without what the trials add. */
  command: string[]
  /** Its record at the tracking server: the parent of those of its trials. */
  tracked: string
  experiment: string
  /** `interrupted`: nobody drives it, and it is not over; `sweep --resume` goes on. */
  status: 'running' | 'interrupted' | 'finished' | 'stopped' | 'failed'
  /** Who drives it now. */
  driver: string | null
  /** What `--detach` has started on this machine; null where that was not so. */
  background: Background | null
  trials: Trial[]
  /** The complete trial with the best value. */
  best: Trial | null
  /** Share of each parameter in what makes the difference, once the sweep is over and there are enough trials. */
  importance: Record<string, number> | null
}

/** What `sweep` ends with. */
export interface Swept extends Sweep {
  /** How many trials there were to be. */
  limit: number
  /** Milliseconds. */
  time: number
}

/** What the command line says besides the manifest. */
export interface SweepChoice {
  /** Goes on with this sweep (an id, or `latest`). */
  resume?: string | undefined
  /** The id of a new one, where it was chosen before. */
  id?: string | undefined
  /** Nobody attends it: after a lost connection it goes on by itself (see untilOver), and others are told so. */
  unattended?: boolean | undefined
  trials?: number | undefined
  parallel?: number | undefined
  /** Node selectors. */
  on?: string | undefined
  exclude?: string | undefined
  preflight: {skip: CheckName[]; force: boolean}
  /** Words after `--`: come after those of the manifest's command, before those of the trial. */
  args: string[]
}

/** What a sweep tells while it goes. */
export interface SweepWatch {
  /** The sweep is ours alone; it waits for what is done then. After a lost connection once more. */
  onOpen?(sweep: string, resumed: boolean): void | Promise<void>
  /** Nobody attends it, and its connection is lost: it is tried for again. */
  onLost?(error: Error): void | Promise<void>
  /** A trial was started, found again, or is over. */
  onTrial?(event: 'started' | 'resumed' | 'ended', trial: Trial): void
}
