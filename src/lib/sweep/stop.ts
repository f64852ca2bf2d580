import {endBackground, listBackgrounds, type BackgroundEnd} from '../background/index.ts'
import {CliError, isCliError, type Context} from '../base/index.ts'
import {openRuns, stopRun} from '../runs/index.ts'
import {findSweep, openStorage, type SweepPlace} from './storage.ts'

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
/**
 * Milliseconds for a process in the background that was told of the end over the node to close what it has; for one
 * that was not, to stop its trials.
 */
const CLOSING_MS = 10_000

/**
 * Ends the sweep that findSweep finds: who drives it is asked to stop its trials and to go; where nobody does, the runs
 * that it left are stopped. A process in the background of this machine is gone afterwards, also one that had no
 * connection and so was not asked. Nothing is lost: `sweep --resume` starts them again. Errors: TIMED_OUT where the one
 * who drives it does not go, and those of findSweep, endBackground and stopRun; a process in the background that waits
 * for the head's node is ended also where that cannot be reached.
 */
export async function stopSweep(place: SweepPlace, name: string | undefined, context: Context): Promise<StoppedSweep> {
  const known = await findSweep(place, name, context).catch((error: unknown) =>
    endUnreached(place, name, error, context),
  )
  const {sweep, driver} = known
  const host = await openStorage(place, context)
  const requested = await host.call('sweep.stop', {sweep, seconds: PATIENCE}, {signal: context.signal})
  const ended = await endBackground(
    sweep,
    {self: driver && !requested.driver ? CLOSING_MS : 0, grace: PATIENCE * 1000},
    context,
  )
  // One that was here before and ended between the two questions has ended by itself as well.
  const background: BackgroundEnd =
    ended ?? (known.background?.state === 'running' ? {pid: known.background.pid, how: 'by itself'} : null)
  const still =
    requested.driver && background
      ? (await host.call('sweep.stop', {sweep, seconds: CLOSING_MS / 1000}, {signal: context.signal})).driver
      : requested.driver
  if (still)
    throw new CliError('TIMED_OUT', `sweep ${sweep} is still driven by ${still} after ${PATIENCE} s`, {
      hint: `flexrack sweep stop ${sweep}`,
    })
  if (driver && (background === null || background.how === 'by itself')) return {sweep, driver, runs: [], background}
  const {trials} = background ? await host.call('sweep.show', {sweep}, {signal: context.signal}) : known
  const running = new Set(trials.filter((one) => one.state === 'running' && one.run !== null).map((one) => one.run))
  const {runs} = await openRuns(place, context).look()
  const left = runs.filter((one) => running.has(one.run) && one.nodes.some((node) => node.live))
  await Promise.all(left.map((run) => stopRun(place, run, {}, context)))
  return {sweep, driver, runs: left.map((one) => one.run), background}
}

/**
 * Without the head's node nothing more can be done than to end the process here, where it is plain which. Throws in any
 * case.
 */
async function endUnreached(
  {project}: SweepPlace,
  name: string | undefined,
  error: unknown,
  context: Context,
): Promise<never> {
  if (!isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
  const running = (await listBackgrounds(context)).filter(
    (one) =>
      one.state === 'running' &&
      (name === undefined ? project === undefined || one.project === project : one.name.startsWith(name)),
  )
  const one = running.find((each) => each.name === name) ?? (running.length === 1 ? running[0] : undefined)
  const ended = one && (await endBackground(one.name, {grace: PATIENCE * 1000}, context))
  if (!one || !ended) throw error
  throw new CliError(
    error.code,
    `${error.message}; process ${ended.pid} here, which drove sweep ${one.name}, is gone, and the trials that it has started go on`,
    {hint: `flexrack sweep stop ${one.name}`, details: error.details, cause: error},
  )
}
