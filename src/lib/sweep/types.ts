import type {Background} from '../background/index.ts'
import type {CheckName} from '../preflight/index.ts'
import type {StoredSweep, Trial} from '../protocol/index.ts'

/** A sweep as the head's node knows it. */
export interface Sweep extends StoredSweep {
  /** What `--detach` has started on this machine; null where that was not so. */
  background: Background | null
  /** The complete trial with the best value. */
  best: Trial | null
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
