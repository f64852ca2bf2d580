import {endBackground, type BackgroundEnd} from '../background/index.ts'
import {CliError, type Context} from '../base/index.ts'
import {openRuns, stopRun} from '../runs/index.ts'
import {openStorage, type SweepPlace} from './storage.ts'
import type {Sweep} from './types.ts'

/** What `sweep stop` did. */
export interface StoppedSweep {
  sweep: string
  /** Who drove it, and has ended it; null where nobody did. */
  driver: string | null
  /** Runs of trials that were stopped because nobody drove the sweep any more. */
  runs: string[]
  /** The process in the background on this machine that drove it, and is gone; null where there was none. */
  background: BackgroundEnd
}

/** Seconds for who drives it to stop its trials. */
const PATIENCE = 120
/** Milliseconds for a process in the background that was told of the end over the node to close what it has; for one that was not, to stop its trials. */
const CLOSING_MS = 10_000

/**
 * Ends a sweep: who drives it is asked to stop its trials and to go; where nobody does, the runs that it left are stopped. A process in the background
 * of this machine is gone afterwards, also one that had no connection and so was not asked. Nothing is lost: `sweep --resume` starts them again.
 * Errors: TIMED_OUT where the one who drives it does not go, and those of endBackground and stopRun.
 */
export async function stopSweep(place: SweepPlace, known: Sweep, context: Context): Promise<StoppedSweep> {
  const {sweep, driver} = known
  const host = await openStorage(place, context)
  const asked = await host.call<{driver: string | null}>('sweep.stop', {sweep, seconds: PATIENCE}, {signal: context.signal})
  const background = await endBackground(sweep, {self: driver && !asked.driver ? CLOSING_MS : 0, grace: PATIENCE * 1000}, context)
  const still = asked.driver && background ? (await host.call<{driver: string | null}>('sweep.stop', {sweep, seconds: CLOSING_MS / 1000}, {signal: context.signal})).driver : asked.driver
  if (still) throw new CliError('TIMED_OUT', `sweep ${sweep} is still driven by ${still} after ${PATIENCE} s`, {hint: `flexrack sweep stop ${sweep}`})
  if (driver && (background === null || background.how === 'by itself')) return {sweep, driver, runs: [], background}
  const {trials} = background ? await host.call<Pick<Sweep, 'trials'>>('sweep.show', {sweep}, {signal: context.signal}) : known
  const running = new Set(trials.filter((one) => one.state === 'running' && one.run !== null).map((one) => one.run))
  const {runs} = await openRuns(place, context).look()
  const left = runs.filter((one) => running.has(one.run) && one.nodes.some((node) => node.live))
  await Promise.all(left.map((run) => stopRun(place, run, {}, context)))
  return {sweep, driver, runs: left.map((one) => one.run), background}
}
