import {setTimeout as pause} from 'node:timers/promises'
import {isCliError, type Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import {openHost} from '../host/index.ts'
import type {SweepSpec} from '../manifest/index.ts'
import type {NodeRunDetail, Trial} from '../protocol/index.ts'
import {describeCause, stopRun, type FoundRun, type Runs} from '../runs/index.ts'
import type {Metric} from '../tracking/index.ts'
import type {TrainPlace} from '../train/index.ts'
import type {Engine} from './engine.ts'

/** How a trial's run ended. `stopped`: nothing was learnt, it can be started again. `left`: it goes on without us. */
export type TrialEnd =
  | {state: 'complete'; value: number}
  | {state: 'pruned' | 'failed'; why: string}
  | {state: 'stopped'}
  | {state: 'left'}

export interface Attending {
  place: TrainPlace
  /** Asked until `leave`. */
  runs: Runs
  tracking: Tracking
  engine: Engine
  spec: SweepSpec
  /** Aborted: leave what runs, or is still to be recorded, alone. */
  leave: AbortSignal
}

/**
 * Between two looks at the metric of a trial that may be pruned, and between two tries at what was not reached.
 * Milliseconds.
 */
const LOOK_MS = 1000
const AGAIN_MS = 2000
/**
 * Ends of a job that are not its own: Slurm took its place, or its node. The trial is started again, but not for ever.
 */
const TAKEN: ReadonlySet<string> = new Set(['PREEMPTED', 'NODE_FAIL', 'BOOT_FAIL'])
const ATTEMPTS = 5
/** Of the node's own waiting for the tracking server. */
const RECORD_SECONDS = 20

/**
 * Attends a trial's run to its end: values of the metric go to the pruner, and what does badly is stopped. The value
 * counts only once the tracking server has everything. Errors: those of the engine, and of a node or server that
 * refuses; not of links that are lost for a while.
 */
export async function attendTrial(
  trial: Trial,
  run: FoundRun,
  attending: Attending,
  context: Context,
): Promise<TrialEnd> {
  const over = new AbortController()
  const record = run.nodes.find((one) => one.tracked !== null)?.tracked ?? null
  const watching =
    attending.spec.pruner.name === 'none' || record === null
      ? undefined
      : watch(trial, run, record, attending, over.signal, context)
  // It may reject while the run is waited for, which then is not heard yet.
  watching?.catch(() => {})
  let detail: NodeRunDetail | undefined
  try {
    detail = await Promise.race([untilOver(run, attending, context), rejectionOf(watching)])
  } finally {
    over.abort()
  }
  const pruned = await watching
  if (!detail || record === null || !(await untilRecorded(run, detail, attending, context))) return {state: 'left'}
  const end = await endOf(detail, pruned, record, attending, trial)
  // What came since the last look: later trials are measured by it, also where this one was over before the first.
  if (end.state === 'complete' && watching)
    await attending.engine.report(
      trial.number,
      pairsOf(await historyOf(attending.tracking, record, attending.spec.metric)),
    )
  return end
}

/** Undefined where it was left. */
async function untilOver(
  run: FoundRun,
  {runs, leave}: Attending,
  context: Context,
): Promise<NodeRunDetail | undefined> {
  let reported: string | undefined
  for (;;) {
    try {
      return await runs.wait(run, undefined)
    } catch (error) {
      if (leave.aborted) return undefined
      if (!isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
      // Whether it goes on there is not known: where its leader alone is silent, the message says so.
      if (error.message !== reported)
        context.reporter.warn(`${run.run}: ${error.message}; it is asked for again until somebody knows`)
      reported = error.message
      await pause(AGAIN_MS, undefined, {signal: leave}).catch(() => {})
    }
  }
}

async function rejectionOf(promise: Promise<unknown> | undefined): Promise<never> {
  await promise
  return new Promise<never>(() => {})
}

/** Tells the pruner every value, in order; true once the run was stopped because of it. */
async function watch(
  trial: Trial,
  run: FoundRun,
  record: string,
  {place, tracking, engine, spec, leave}: Attending,
  over: AbortSignal,
  context: Context,
): Promise<boolean> {
  const reported = new Set<number>()
  while (!over.aborted && !leave.aborted) {
    await pause(LOOK_MS, undefined, {signal: AbortSignal.any([over, leave])}).catch(() => {})
    const values = await historyOf(tracking, record, spec.metric)
    const fresh = values.filter((one) => !reported.has(one.step))
    for (const one of fresh) reported.add(one.step)
    if (fresh.length === 0 || over.aborted) continue
    if (!(await engine.report(trial.number, pairsOf(fresh)))) continue
    await stopRun(place, run, {}, context)
    return true
  }
  return false
}

function pairsOf(values: Metric[]): [step: number, value: number][] {
  return values.map((one) => [one.step, one.value])
}

/** One value a step, the newest, in the order of the steps. A server that is away has none for now. */
async function historyOf(tracking: Tracking, record: string, metric: string): Promise<Metric[]> {
  let values: Metric[]
  try {
    values = await tracking.mlflow.metricHistory(record, metric)
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND') || isPassing(error)) return []
    throw error
  }
  const newest = new Map<number, Metric>()
  for (const one of values) if ((newest.get(one.step)?.timestamp ?? -1) <= one.timestamp) newest.set(one.step, one)
  return [...newest.values()].sort((a, b) => a.step - b.step)
}

/** The tracking server has everything, which only the node knows that led the run. False where it was left before. */
async function untilRecorded(
  run: FoundRun,
  detail: NodeRunDetail,
  {place, tracking, leave}: Attending,
  context: Context,
): Promise<boolean> {
  let reported = false
  for (let recorded = detail.recorded === true && detail.node === detail.leader; !recorded;) {
    if (leave.aborted) return false
    const node = place.rack.nodes.find((one) => one.name === detail.leader)
    if (!node) return false
    try {
      const host = await openHost(place.fleet, node, {...context, signal: context.kill})
      recorded = (
        await host.call(
          'run.reconcile',
          {run: run.run, seconds: RECORD_SECONDS, leads: true, ...(await tracking.userAccess())},
          {signal: leave},
        )
      ).recorded
    } catch (error) {
      if (leave.aborted) return false
      if (!isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
    }
    if (recorded) break
    if (!reported)
      context.reporter.warn(`the tracking server does not have all of ${run.run} yet; its trial is over once it has`)
    reported = true
    await pause(AGAIN_MS, undefined, {signal: leave}).catch(() => {})
  }
  return true
}

async function endOf(
  detail: NodeRunDetail,
  pruned: boolean | undefined,
  record: string,
  {tracking, spec, leave}: Attending,
  {number, attempt}: Trial,
): Promise<TrialEnd> {
  const status = detail.result?.status ?? detail.status
  if (pruned) return {state: 'pruned', why: `${spec.pruner.name} ended it`}
  if (status === 'stopped' || (attempt < ATTEMPTS && TAKEN.has(detail.result?.slurm?.state ?? '')))
    return {state: 'stopped'}
  if (status !== 'finished')
    return {state: 'failed', why: detail.cause ? describeCause(detail.cause) : `its run ${status}`}
  for (;;) {
    try {
      const {metrics} = await tracking.mlflow.getRun(record)
      const last = metrics[spec.metric]
      if (!last) {
        const names = Object.keys(metrics)
          .filter((name) => !name.startsWith('system/'))
          .slice(0, 8)
        return {
          state: 'failed',
          why: `trial ${number} logged no metric ${spec.metric}${names.length > 0 ? `, only ${names.join(', ')}` : ', nor another'}`,
        }
      }
      return !Number.isFinite(last.value)
        ? {state: 'failed', why: `its ${spec.metric} is ${last.value}`}
        : {state: 'complete', value: last.value}
    } catch (error) {
      if (!isPassing(error)) throw error
      if (leave.aborted) return {state: 'left'}
      await pause(AGAIN_MS, undefined, {signal: leave}).catch(() => {})
    }
  }
}

/** The tracking server is away, and will be back. */
function isPassing(error: unknown): boolean {
  return isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT', 'HEAD_FAILED')
}
