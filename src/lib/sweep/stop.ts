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
}

/** Seconds for who drives it to stop its trials. */
const PATIENCE = 120

/**
 * Ends a sweep: who drives it is asked to stop its trials and to go; where nobody does, the runs that it left are stopped. Nothing is lost:
 * `sweep --resume` starts them again. Errors: TIMED_OUT where the one who drives it does not go, and those of stopRun.
 */
export async function stopSweep(place: SweepPlace, {sweep, driver, trials}: Sweep, context: Context): Promise<StoppedSweep> {
  const host = await openStorage(place, context)
  const asked = await host.call<{driver: string | null}>('sweep.stop', {sweep, seconds: PATIENCE}, {signal: context.signal})
  if (asked.driver) throw new CliError('TIMED_OUT', `sweep ${sweep} is still driven by ${asked.driver} after ${PATIENCE} s`, {hint: `flexrack sweep stop ${sweep}`})
  if (driver) return {sweep, driver, runs: []}
  const running = new Set(trials.filter((one) => one.state === 'running' && one.run !== null).map((one) => one.run))
  const {runs} = await openRuns(place, context).look()
  const left = runs.filter((one) => running.has(one.run) && one.nodes.some((node) => node.live))
  await Promise.all(left.map((run) => stopRun(place, run, {}, context)))
  return {sweep, driver: null, runs: left.map((one) => one.run)}
}
