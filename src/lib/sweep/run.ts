import {findBackground} from '../background/index.ts'
import {CliError, isCliError, LOCKED_PYTHON, ownerName, throwIfInterrupted, type Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import {ensureEnvironment, type Environment, type Host} from '../host/index.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type Outputs, type StepOutcome} from '../plan/index.ts'
import type {Trial} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import {lookOverNodes, openTrainTracking, recordParent, type TrainPlace} from '../train/index.ts'
import {WORKSPACE_HANDLERS} from '../workspace/index.ts'
import {PATIENCE, planAgain, untilOver} from './again.ts'
import {Driver} from './driver.ts'
import {Engine, engineRequirements} from './engine.ts'
import type {SweepPlan} from './plan.ts'
import type {
  EngineStepInput,
  OpenInput,
  Opened,
  SweepEnv,
  SweepKinds,
  SweepPreflightInput,
  TrialsInput,
} from './steps.ts'
import type {SweepChoice, SweepWatch, Swept} from './types.ts'
import {bestOf} from './words.ts'

type Done = Outputs<SweepKinds>

const HANDLERS: Handlers<SweepKinds, SweepEnv> = {
  ...WORKSPACE_HANDLERS,
  'sweep.reach': ({uri}, _done, {place, context}) =>
    openTrainTracking(place, uri ?? undefined, place.manifest.name, context),
  'sweep.preflight': preflight,
  'sweep.engine': engine,
  'sweep.open': open,
  'sweep.trials': trials,
}

/**
 * Executes the plan: drives the sweep until all of its trials are over, or somebody stops it. The first Ctrl-C stops
 * the running trials, which are started again by `resume`; where only the terminal has gone they go on, and `resume`
 * finds them. `choice.unattended`: after a lost connection it goes on by itself. Errors: those of the steps; LOCKED
 * while somebody else drives the sweep; RUN_FAILED where the first trials all fail.
 */
export async function runSweep(
  plan: SweepPlan,
  place: TrainPlace,
  choice: SweepChoice,
  watch: SweepWatch,
  context: Context,
): Promise<Swept> {
  const begin = Date.now()
  const parent: SweepEnv['parent'] = {}
  const once = async (now: SweepPlan, held?: () => void): Promise<Omit<Swept, 'time'>> =>
    drive(
      now,
      place,
      choice,
      parent,
      {
        ...watch,
        onOpen: (...opened) => {
          held?.()
          return watch.onOpen?.(...opened)
        },
      },
      context,
    )
  const swept = choice.unattended
    ? await untilOver(
        plan,
        {
          once,
          next: () => planAgain(plan, place, context),
          isOwnLock: (error) => isHeldBy(error, driverName(choice, context)),
          lost: (error) => watch.onLost?.(error),
        },
        PATIENCE,
        context,
      )
    : await once(plan)
  return {...swept, time: Date.now() - begin}
}

/** As long as there is a connection. */
async function drive(
  plan: SweepPlan,
  place: TrainPlace,
  choice: SweepChoice,
  parent: SweepEnv['parent'],
  watch: SweepWatch,
  context: Context,
): Promise<Omit<Swept, 'time'>> {
  const host = (node: string): Host => [plan.head, ...plan.hosts].find((one) => one.node === node) as Host
  const env: SweepEnv = {
    place,
    watch,
    parent,
    host,
    files: plan.workspaces.files,
    driver: driverName(choice, context),
    engines: [],
    context,
  }
  let outcomes: StepOutcome[] = []
  try {
    outcomes = await executePlan(plan.plan, HANDLERS, env, context)
    // Of steps on nodes only those of the workspaces are one of many.
    const whole = outcomes.find((one) => one.status === 'failed' && one.step.kind.startsWith('sweep.'))
    if (whole?.error) throw whole.error
    throwIfFailed(outcomes)
    await Promise.all(env.engines.map((one) => one.close()))
    const [opened] = valuesOf<SweepKinds, 'sweep.open'>(outcomes, 'sweep.open')
    const sweep = await plan.head.call('sweep.show', {sweep: plan.sweep}, {signal: context.kill})
    return {
      ...sweep,
      best: bestOf(sweep.trials, sweep.spec.goal),
      background: await findBackground(plan.sweep, context),
      limit: opened?.limit ?? sweep.trials.length,
    }
  } finally {
    await Promise.all(env.engines.map((one) => one.close()))
    await valuesOf<SweepKinds, 'sweep.reach'>(outcomes, 'sweep.reach')[0]?.close()
  }
}

async function preflight(
  {nodes, skipped, force}: SweepPreflightInput,
  _done: unknown,
  {place, host, context}: SweepEnv,
): Promise<void> {
  const named = nodes.map((name) => place.rack.nodes.find((one) => one.name === name) as RackNode)
  await lookOverNodes(place, named, nodes.map(host), {skip: skipped, force}, context)
}

async function engine(
  {node, sampler}: EngineStepInput,
  _done: unknown,
  {host, context}: SweepEnv,
): Promise<Environment & {python: string}> {
  const built = await ensureEnvironment(
    host(node),
    {requirements: engineRequirements({sampler}), python: LOCKED_PYTHON, user: 'sweep'},
    context,
  )
  return {...built, python: `${built.path}/bin/python`}
}

async function open(input: OpenInput, done: Done, env: SweepEnv): Promise<Opened> {
  const {sweep, spec, resumed} = input
  const tracking = done.of('sweep.reach', input.tracking)
  const {tracked, source} = await parentOf(input, tracking, env)
  const record =
    resumed === null
      ? {
          project: input.project,
          owner: ownerName(env.context),
          spec,
          command: input.command,
          tracked,
          experiment: input.experiment,
        }
      : undefined
  const made = new Engine(
    env.host(input.node),
    {sweep, python: done.at(input.python) as string, owner: env.driver, ...(record ? {record} : {spec})},
    env.context,
  )
  env.engines.push(made)
  const {trials: known, limit} = await made.ready
  if (resumed !== null) await tracking.mlflow.updateRun(tracked, {status: 'RUNNING'})
  await env.watch.onOpen?.(sweep, resumed !== null)
  return {
    engine: made,
    trials: known,
    limit,
    tracked,
    shared: {tracking, tags: {'mlflow.parentRunId': tracked, 'flexrack.sweep': sweep}, source},
  }
}

async function trials(input: TrialsInput, done: Done, {place, host, watch, context}: SweepEnv): Promise<void> {
  const {sweep} = input
  const opened = done.of('sweep.open', input.opened)
  const {tracking} = opened.shared
  const shared = {...opened.shared, workspaces: new Map(input.workspaces.map((one) => [one.node, one]))}
  const driver = new Driver({input, place, host, engine: opened.engine, tracking, shared, watch}, context)
  let status: 'finished' | 'stopped' | 'failed' | 'interrupted' = 'failed'
  try {
    status = await driver.drive(opened.trials)
  } catch (error) {
    if (error instanceof CliError && error.code !== 'RUN_FAILED') status = 'interrupted'
    throw withWayOn(error, sweep)
  } finally {
    await opened.engine.finish(status).catch(() => {})
    await closeParent(tracking, opened.tracked, status, driver.best(), input).catch((error: Error) =>
      context.reporter.warn(`the record of sweep ${sweep} is not complete: ${error.message}`),
    )
  }
  if (status === 'interrupted') {
    context.reporter.note(`sweep ${sweep} is kept; it goes on with: flexrack sweep --resume ${sweep}`)
    throwIfInterrupted(context.signal)
  }
}

async function parentOf(
  input: OpenInput,
  tracking: Tracking,
  {place, parent, context}: SweepEnv,
): Promise<Required<SweepEnv['parent']>> {
  const {tracked, source} = parent
  if (tracked !== undefined && source) return {tracked, source}
  const made = await recordParent(
    place,
    tracking,
    {name: input.sweep, known: input.resumed ?? undefined, tags: tagsOf(input)},
    context,
  )
  return Object.assign(parent, {tracked: made.runId, source: made.source})
}

/** Who drives it, for others. */
function driverName({unattended}: SweepChoice, context: Context): string {
  return `${ownerName(context)}${unattended ? ` (in the background, process ${process.pid})` : ''}`
}

/** The engine of a link that died without a word keeps its lock for some minutes. */
function isHeldBy(error: unknown, owner: string): boolean {
  return isCliError(error, 'LOCKED') && (error.details.holder as {owner?: string} | undefined)?.owner === owner
}

function tagsOf({sweep, spec, command}: OpenInput): Record<string, string> {
  return {
    'flexrack.sweep': sweep,
    'flexrack.command': command.join(' '),
    'flexrack.sweep.metric': `${spec.goal} ${spec.metric}`,
    'flexrack.sweep.sampler': spec.sampler,
    'flexrack.sweep.pruner': spec.pruner.name,
    'mlflow.source.name': command[0] ?? '',
  }
}

async function closeParent(
  {mlflow}: Tracking,
  tracked: string,
  status: string,
  best: Trial | null,
  {spec}: TrialsInput,
): Promise<void> {
  if (best && best.value !== null) {
    const now = Date.now()
    await mlflow.logBatch(tracked, {
      metrics: [{key: `best_${spec.metric}`, value: best.value, timestamp: now, step: best.number}],
      tags: {'flexrack.sweep.best': best.run ?? ''},
    })
  }
  await mlflow.updateRun(tracked, {
    status: status === 'finished' ? 'FINISHED' : status === 'failed' ? 'FAILED' : 'KILLED',
    endTime: Date.now(),
  })
}

/** What is there is kept: every error but that of the trials themselves says how to go on. */
function withWayOn(error: unknown, sweep: string): unknown {
  if (!(error instanceof CliError) || error.code === 'RUN_FAILED') return error
  const way = `flexrack sweep --resume ${sweep}`
  return new CliError(error.code, error.message, {
    hint: error.hint ? `${error.hint}\n${way}` : way,
    details: error.details,
    cause: error,
  })
}
