import {isCliError, ownVersion, type Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import {openHost} from '../host/index.ts'
import {executePlan, throwIfFailed, type StepOutcome} from '../plan/index.ts'
import type {PreflightResult} from '../preflight/index.ts'
import type {NodeRun, NodeRunDetail} from '../protocol/index.ts'
import {stopRun, type FoundRun} from '../runs/index.ts'
import {attend, type AttendWatch} from './attend.ts'
import {forgetInputs, runRemotes} from './data.ts'
import {openTrainEnv} from './env.ts'
import {madeBy, type Made} from './made.ts'
import {planTrain, type TrainPlan} from './plan.ts'
import {TRAIN_HANDLERS} from './steps/handlers.ts'
import {revokeToken} from './track.ts'
import {describe, type Trained} from './trained.ts'
import type {RunSpec, TrainPlace} from './types.ts'

export interface TrainWatch extends AttendWatch {
  /** Return as soon as it runs. */
  detach: boolean
  /** It is started; lines follow. */
  onStart?(run: string, started: StartedRun): void
}

/** A run that was started on all of its nodes. */
export interface StartedRun {
  spec: RunSpec
  found: FoundRun
  /** Open until the end; undefined where the run is not tracked. */
  tracking: Tracking | undefined
  /** Undefined where every check was left out. */
  preflight: PreflightResult | undefined
}

/** For the login node's own waiting for the tracking server. */
const RECORDING_SECONDS = 20

/**
 * Executes the plan, follows the ranks' lines, and returns how it ended; a failed run is a value, see failureOf. Ctrl-C
 * stops the run gracefully, a second one kills it; when the terminal or the reader goes away, the run goes on and
 * `status` is `running`. Where nodes and GPUs were chosen and others reserved them meanwhile, they are chosen once
 * more. Errors: those of the steps, after which nothing of the run is left; INTERRUPTED while it is being started.
 */
export async function runPlan(
  train: TrainPlan,
  place: TrainPlace,
  watch: TrainWatch,
  context: Context,
): Promise<Trained> {
  try {
    return await runOnce(train, place, watch, context)
  } catch (error) {
    if (!isCliError(error, 'RESERVED') || !train.again) throw error
    context.reporter.warn(`somebody was quicker (${error.message}): nodes and GPUs are chosen once more`)
    return runOnce(await planTrain(place, train.again, context), place, watch, context)
  }
}

async function runOnce(train: TrainPlan, place: TrainPlace, watch: TrainWatch, context: Context): Promise<Trained> {
  const begin = Date.now()
  const {
    spec,
    workspaces: {files},
    shared,
  } = train
  const env = openTrainEnv(
    place,
    {version: await ownVersion(), variables: spec.env, files, shared, remotes: await runRemotes(spec, context)},
    context,
  )
  const outcomes = await executePlan(train.plan, TRAIN_HANDLERS, env, context)
  const made = madeBy(outcomes, train)
  try {
    if (outcomes.some((one) => one.status !== 'done')) await abandon(spec, made, place, outcomes, context)
    throwFirst(outcomes)
    const run: FoundRun = {run: spec.run, nodes: made.nodes, unheard: made.unheard}
    made.reservation?.close() // the supervisors have taken it over
    watch.onStart?.(run.run, {spec, found: run, tracking: made.tracking, preflight: made.preflight})
    const followed = watch.detach ? undefined : await attend(run, place, watch, context)
    const leader = followed?.end()
    if (leader) await completeRecord(spec, made, place, leader, context)
    return await describe({spec, made, outcomes, begin}, run, {leader, details: followed?.details})
  } finally {
    if (!shared) await made.tracking?.close()
  }
}

/** A run needs all of its parts: the error of one that is not a node's own is the error. */
function throwFirst(outcomes: StepOutcome[]): void {
  const whole = outcomes.find((one) => one.error && (one.step.node === null || isStart(one)))
  if (whole?.error && !outcomes.some((one) => isCliError(one.error, 'INTERRUPTED'))) throw whole.error
  throwIfFailed(outcomes)
}

function isStart({step}: StepOutcome): boolean {
  return step.kind === 'train.start' || step.kind === 'train.submit'
}

/** Something could not be started: whatever was started is ended, and the record says so. */
async function abandon(
  spec: RunSpec,
  {nodes, reservation, leases, record, tracking}: Made,
  place: TrainPlace,
  outcomes: StepOutcome[],
  context: Context,
): Promise<void> {
  const tried = outcomes.filter((one) => isStart(one) && one.status !== 'skipped').map((one) => one.step.node as string)
  if (tried.length > 0) {
    const started = tried.map(
      (node): NodeRun => nodes.find((one) => one.node === node) ?? ({node, index: -1} as NodeRun),
    )
    await stopRun(place, {run: spec.run, nodes: started}, {kill: true}, context).catch(() => {})
  }
  await forgetInputs(spec, outcomes, place, context)
  await reservation?.release()
  await Promise.all(leases.map((one) => one.release()))
  if (!record || !tracking) return
  const interrupted = context.signal.aborted
  const reason = outcomes.find((one) => one.error)?.error?.message ?? 'it was not started'
  const {mlflow} = tracking
  await mlflow.setTag(record.runId, 'flexrack.cause', reason).catch(() => {})
  await revokeToken(tracking, record).catch(() => {})
  // A leader that was stopped here has recorded that itself, and its word is the one that `runs show` has.
  const known = await mlflow.getRun(record.runId).catch(() => undefined)
  if (known?.status === 'RUNNING')
    await mlflow
      .updateRun(record.runId, {status: interrupted ? 'KILLED' : 'FAILED', endTime: Date.now()})
      .catch(() => {})
}

/** What Slurm ended, nobody on its nodes could record to the end: that is done here, from the files. */
async function completeRecord(
  spec: RunSpec,
  {tracking}: Made,
  {fleet}: TrainPlace,
  {result}: NodeRunDetail,
  context: Context,
): Promise<void> {
  const login = spec.placements[0]?.node
  if (!spec.slurm || !login || !tracking || result?.recorded !== false) return
  try {
    const host = await openHost(fleet, login, {...context, signal: context.kill})
    const input = {run: spec.run, seconds: RECORDING_SECONDS, leads: true, ...(await tracking.userAccess())}
    result.recorded = (await host.call('run.reconcile', input, {signal: context.kill})).recorded
  } catch (error) {
    if (!isCliError(error)) throw error
    context.reporter.warn(`the record of ${spec.run} is not complete: ${error.message}`)
  }
}
