import {CliError, isCliError, isRequested, type Context} from '../base/index.ts'
import type {RunLeases} from '../gpu/index.ts'
import type {Tracking} from '../head/index.ts'
import {openHost, type Host} from '../host/index.ts'
import {executePlan, throwIfFailed, valuesOf, type StepOutcome} from '../plan/index.ts'
import type {PreflightResult} from '../preflight/index.ts'
import type {Cause, NodeRun, NodeRunDetail, Pace, SlurmState} from '../protocol/index.ts'
import type {GangReservation} from '../reservation/index.ts'
import {
  followRun,
  stopRun,
  type Followed,
  type FoundRun,
  type RankLine,
  type RunNews,
  type Stopped,
} from '../runs/index.ts'
import type {Metric} from '../tracking/index.ts'
import {forgetInputs, runRemotes} from './data.ts'
import {openTrainEnv} from './env.ts'
import {planTrain, type TrainPlan} from './plan.ts'
import {TRAIN_HANDLERS} from './steps/handlers.ts'
import type {TrainKinds} from './steps/types.ts'
import {revokeToken, type TrackedStart} from './track.ts'
import type {RunSpec, TrainPlace} from './types.ts'

export interface TrainWatch {
  /** Return as soon as it runs. */
  detach: boolean
  /** It is started; lines follow. */
  onStart?(run: string, started: StartedRun): void
  onLines(lines: RankLine[]): void
  onNews?(news: RunNews): void
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

/** How a run was, or how it is where it was left alone. Times in milliseconds. */
export interface Trained {
  run: string
  status: 'finished' | 'failed' | 'stopped' | 'running'
  exit: number | null
  cause: Cause | null
  nodes: string[]
  /**
   * Who committed this result, and who has the outputs: the first of the nodes, or, where that was lost, the one that
   * led the run on. Null while it goes on, and under Slurm.
   */
  leader: string | null
  worldSize: number
  attempts: number
  /** Where the time went; `recording`: outputs and logs to the tracking server. */
  times: {
    sync: number
    environment: number
    preflight: number
    start: number
    training: number
    recording: number
    total: number
  }
  /** How fast the ranks of the last attempt were; null where none told of steps. */
  pace: Pace | null
  metrics: Metric[]
  outputs: string[]
  experiment: string | null
  trackedId: string | null
  recorded: boolean | null
  /**
   * By node: pids that are alive after the end. Empty lists are the proof that nothing is left; of a node that is
   * missing here nobody knows.
   */
  left: Record<string, number[]>
  /** What Slurm says of the run's job, where it placed the run. */
  slurm: SlurmState | null
}

/** Milliseconds that nodes may take, after a stop was proven, to close their files. */
const CLOSING_MS = 60_000
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
    {variables: spec.env, files, shared, remotes: await runRemotes(spec, context)},
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

/** What the steps have made that outlives them. */
interface Made {
  tracking: Tracking | undefined
  record: TrackedStart | undefined
  reservation: GangReservation | undefined
  leases: RunLeases[]
  /** In the order of the gang. */
  nodes: NodeRun[]
  /** Those of them that have not answered their start. */
  unheard: string[]
  preflight: PreflightResult | undefined
}

function madeBy(outcomes: readonly StepOutcome[], {shared}: TrainPlan): Made {
  const of = <Kind extends keyof TrainKinds>(kind: Kind): TrainKinds[Kind]['output'][] =>
    valuesOf<TrainKinds, Kind>(outcomes, kind)
  return {
    tracking: shared?.tracking ?? of('train.reach')[0],
    record: of('train.track')[0]?.record,
    reservation: of('train.reserve')[0]?.reservation,
    leases: of('train.lease'),
    nodes: [...of('train.start').map((one) => one.run), ...of('train.submit')].sort((a, b) => a.index - b.index),
    unheard: of('train.start').flatMap((one) => (one.unheard ? [one.run.node] : [])),
    preflight: of('train.preflight')[0],
  }
}

/**
 * How long the steps of each kind took, from the first one's beginning to the last one's end; 0 where there was none.
 * Milliseconds.
 */
function timeOf(outcomes: readonly StepOutcome[], kind: keyof TrainKinds): number {
  const spans = outcomes.flatMap((one) => (one.step.kind === kind && one.span ? [one.span] : []))
  return spans.length === 0 ? 0 : Math.max(...spans.map((one) => one.to)) - Math.min(...spans.map((one) => one.from))
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

/**
 * Follows until the end; passes Ctrl-C on. Undefined where the run is to go on without us. Errors: INTERRUPTED, from
 * here or `end`, where it was stopped on all nodes that can be reached and these do not know how it ended; those of
 * stopRun.
 */
async function attend(
  run: FoundRun,
  place: TrainPlace,
  watch: TrainWatch,
  context: Context,
): Promise<Followed | undefined> {
  const runs = {rack: place.rack, fleet: place.fleet, hosts: new Map<string, Host>()}
  const leave = new AbortController()
  const lost = new Map(run.nodes.map(({node}) => [node, new AbortController()]))
  const stops: Promise<unknown>[] = []
  let stopped: Stopped | undefined
  const stop = (kill: boolean): void => {
    const progress = context.reporter.begin(kill ? `Kill run ${run.run}` : `Stop run ${run.run}`)
    const end = stopRun(runs, run, {kill}, context).then(
      (done) => {
        stopped = done
        progress.done(`Stopped: no process of the run is left on ${Object.keys(done.left).join(', ')}`)
        for (const node of done.unreached) lost.get(node)?.abort()
        setTimeout(() => leave.abort(), CLOSING_MS).unref()
      },
      (error: Error) => {
        progress.fail(error.message)
        leave.abort(error)
      },
    )
    stops.push(end)
  }
  const onSignal = (): void => {
    if (isRequested(context.signal)) stop(false)
    else leave.abort()
  }
  const onKill = (): void => stop(true)
  context.signal.addEventListener('abort', onSignal, {once: true})
  context.kill.addEventListener('abort', onKill, {once: true})
  if (context.signal.aborted) onSignal()
  try {
    const given = new Map([...lost].map(([node, {signal}]) => [node, signal]))
    const followed = await followRun(
      runs,
      run,
      {
        follow: true,
        signal: leave.signal,
        given,
        onLines: (lines) => watch.onLines(lines),
        onNews: (news) => watch.onNews?.(news),
      },
      context,
    )
    await Promise.all(stops)
    return {...followed, end: () => endOrStopped(followed, stopped)}
  } catch (error) {
    if (!leave.signal.aborted || !isCliError(error, 'INTERRUPTED')) throw error
    await Promise.all(stops)
    if (isCliError(leave.signal.reason)) throw leave.signal.reason
    if (stopped) throw interruption(stopped, error)
    return undefined
  } finally {
    context.signal.removeEventListener('abort', onSignal)
    context.kill.removeEventListener('abort', onKill)
    await Promise.all(stops)
  }
}

function endOrStopped(followed: Followed, stopped: Stopped | undefined): NodeRunDetail {
  try {
    return followed.end()
  } catch (error) {
    throw stopped && isCliError(error, 'NODE_UNREACHABLE') ? interruption(stopped, error) : error
  }
}

/** To the user who has asked for the end, what matters is that it came; where not, stopRun has told by now. */
function interruption({run, left, unreached}: Stopped, cause: unknown): CliError {
  const why = unreached.length > 0 ? `${unreached.join(', ')} could not be reached` : 'its files are not closed yet'
  return new CliError(
    'INTERRUPTED',
    `run ${run} was stopped on ${Object.keys(left).join(', ')}; how it ended is not known, because ${why}`,
    {details: {run, left, unreached}, hint: `flexrack runs stop ${run}`, cause},
  )
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
    const input = {run: spec.run, seconds: RECORDING_SECONDS, leads: true, ...tracking.userAccess()}
    result.recorded = (await host.call('run.reconcile', input, {signal: context.kill})).recorded
  } catch (error) {
    if (!isCliError(error)) throw error
    context.reporter.warn(`the record of ${spec.run} is not complete: ${error.message}`)
  }
}

interface Executed {
  spec: RunSpec
  made: Made
  outcomes: StepOutcome[]
  begin: number
}

async function describe(
  {spec, made, outcomes, begin}: Executed,
  run: FoundRun,
  {leader, details}: {leader: NodeRunDetail | undefined; details: Map<string, NodeRunDetail> | undefined},
): Promise<Trained> {
  const time = (...kinds: (keyof TrainKinds)[]): number => kinds.reduce((sum, kind) => sum + timeOf(outcomes, kind), 0)
  const result = leader?.result
  const finished = Date.now()
  const training = result ? Math.max(0, result.ended - result.started) * 1000 : 0
  const before = time('workspace.sync', 'workspace.environment')
  return {
    run: run.run,
    status: result?.status ?? 'running',
    exit: result?.exit ?? null,
    cause: result?.cause ?? null,
    nodes: spec.slurm && leader ? leader.nodes : spec.placements.map((one) => one.node.name),
    leader: spec.slurm ? null : (leader?.leader ?? null),
    worldSize: (result?.attempts.at(-1)?.nodes?.length ?? spec.worldSize / spec.processes) * spec.processes,
    attempts: result?.attempts.length ?? 1,
    times: {
      sync: time('workspace.sync'),
      environment: time('workspace.environment'),
      preflight: time('train.preflight'),
      start: time('train.track', 'train.submit', 'train.start', 'train.route'),
      training,
      recording: result ? Math.max(0, finished - result.ended * 1000) : 0,
      total: Math.max(finished - begin, before + training),
    },
    pace: result?.attempts.at(-1)?.pace ?? null,
    metrics: result ? await lastMetrics(made) : [],
    outputs: result?.outputs ?? [],
    experiment: made.record ? spec.experiment : null,
    trackedId: made.record?.runId ?? null,
    // Only the node that led knows of the whole record.
    recorded: made.record && result ? result.recorded && leader.node === leader.leader : null,
    left: Object.fromEntries(
      [...(details ?? [])].flatMap(([node, detail]) =>
        (spec.slurm && detail.nodes.length > 0 ? detail.nodes : [node]).map((name) => [name, detail.alive]),
      ),
    ),
    slurm: details === undefined ? (made.nodes[0]?.slurm ?? null) : (leader?.slurm ?? null),
  }
}

async function lastMetrics({tracking, record}: Made): Promise<Metric[]> {
  if (!tracking || !record) return []
  try {
    const {metrics} = await tracking.mlflow.getRun(record.runId)
    return Object.values(metrics)
      .filter((one) => !one.key.startsWith('system/'))
      .sort((a, b) => a.key.localeCompare(b.key))
  } catch {
    return [] // the head is away; the nodes have told what matters
  }
}
