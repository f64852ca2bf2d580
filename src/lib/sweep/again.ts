import {setTimeout as sleep} from 'node:timers/promises'
import {isCliError, throwIfInterrupted, type Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import type {StepOf} from '../plan/index.ts'
import type {TrainPlace} from '../train/index.ts'
import type {SweepPlan} from './plan.ts'
import {findSweep, openStorage} from './storage.ts'
import type {SweepKinds} from './steps.ts'

export interface Patience {
  /** Milliseconds without a connection after which it is given up. On Linux a machine that sleeps counts none. */
  total: number
  /** Before the first try, then twice as long each time, up to the most. */
  first: number
  most: number
}

/** A night, a day's journey, a weekend's outage: nobody is there to go on by hand. */
export const PATIENCE: Patience = {total: 48 * 3_600_000, first: 5000, most: 300_000}
/**
 * Only that a node's program is there, the tracking server, the engine and the trials: what was synced and looked over
 * before stays as it is.
 */
const AGAIN = new Set(['reach', 'engine', 'open', 'trials'])

/**
 * Does `once` until it ends without a lost connection: then again, after a pause, as `next` plans it. `held` is called
 * by `once` as soon as it has what it needs: a failure before the first time is nobody's lost connection, and after it
 * the patience begins anew. `lost` is told of every failure after which it is tried again. Errors: those of `once` and
 * `next` that are no lost connection, or the last one of these; INTERRUPTED.
 */
export async function untilOver<P, T>(
  plan: P,
  steps: {
    once(plan: P, held: () => void): Promise<T>
    next(): Promise<P>
    isOwnLock(error: unknown): boolean
    lost?(error: Error): void | Promise<void>
  },
  patience: Patience,
  context: Pick<Context, 'reporter' | 'signal'>,
): Promise<T> {
  let [current, wasHeld, wait, lostAt]: [P | undefined, boolean, number, number | undefined] = [
    plan,
    false,
    patience.first,
    undefined,
  ]
  for (;;) {
    try {
      current ??= await steps.next()
      return await steps.once(current, () => {
        ;[wasHeld, wait, lostAt] = [true, patience.first, undefined]
      })
    } catch (error) {
      if (context.signal.aborted || !wasHeld || !(isPassing(error) || steps.isOwnLock(error))) throw error
      lostAt ??= performance.now()
      if (performance.now() - lostAt > patience.total) throw error
      await steps.lost?.(error as Error)
      context.reporter.warn(
        `${(error as Error).message}; what runs goes on there, and the sweep goes on once there is a connection: next try in ${Math.ceil(wait / 1000)} s`,
      )
    }
    await sleep(wait, undefined, {signal: context.signal}).catch(() => throwIfInterrupted(context.signal))
    wait = Math.min(wait * 2, patience.most)
    current = undefined
  }
}

/**
 * What is left of a plan after the connection was lost: new connections, and the sweep as it is now. The code on the
 * nodes and its preflight stay: the user may have worked on the project since, and trials of one sweep run one code.
 * Errors: those of openHost and findSweep.
 */
export async function planAgain(plan: SweepPlan, place: TrainPlace, context: Context): Promise<SweepPlan> {
  const {manifest, rack, fleet} = place
  const [head, hosts, resumed] = await Promise.all([
    openStorage(place, context),
    Promise.all(plan.nodes.map((node) => openHost(fleet, node, context))),
    findSweep({rack, fleet, project: manifest.name}, plan.sweep, context),
  ])
  const steps = plan.plan.steps
    .filter((step) => AGAIN.has(step.id))
    .map((step): StepOf<SweepKinds> => {
      const needs = step.needs.filter((id) => AGAIN.has(id))
      return step.kind === 'sweep.open'
        ? {...step, input: {...step.input, resumed: resumed.tracked}, needs}
        : {...step, needs}
    })
  return {...plan, plan: {...plan.plan, steps}, head, hosts, resumed}
}

/** As trials judge it (trial.ts): a node or a server that is away and will be back. */
function isPassing(error: unknown): boolean {
  return isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT', 'HEAD_FAILED')
}
