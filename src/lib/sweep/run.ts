import {findBackground} from '../background/index.ts'
import {CliError, isCliError, ownerName, throwIfInterrupted, type Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import {ensureEnvironment, type Environment} from '../host/index.ts'
import {executePlan, throwIfFailed, type StepHandler} from '../plan/index.ts'
import {lookOverNodes, openTrainTracking, recordParent, type SharedStart, type TrainPlace} from '../train/index.ts'
import {PATIENCE, planAgain, untilOver} from './again.ts'
import {Driver} from './driver.ts'
import {Engine} from './engine.ts'
import type {SweepPlan} from './plan.ts'
import type {Sweep, SweepChoice, SweepWatch, Swept, Trial} from './types.ts'
import {bestOf} from './words.ts'

/** What is open while a sweep is driven. */
interface Live {
  tracking?: Tracking
  engine?: Engine
  trials?: Trial[]
  limit?: number
  shared?: SharedStart
  tracked?: string
}

/** Of the record above the trials': made once, also where connections are lost. */
interface Parent {
  tracked: string
  source: SharedStart['source']
}

/**
 * Executes the plan: drives the sweep until all of its trials are over, or somebody stops it. The first Ctrl-C stops the running trials, which are
 * started again by `resume`; where only the terminal has gone they go on, and `resume` finds them. `choice.unattended`: after a lost connection it
 * goes on by itself. Errors: those of the steps; LOCKED while somebody else drives the sweep; RUN_FAILED where the first trials all fail.
 */
export async function runSweep(plan: SweepPlan, place: TrainPlace, choice: SweepChoice, watch: SweepWatch, context: Context): Promise<Swept> {
  const begin = Date.now()
  const parent: Partial<Parent> = {}
  const once = async (now: SweepPlan, held?: () => void): Promise<Omit<Swept, 'time'>> => drive(now, place, choice, parent, {...watch, onOpen: (...opened) => {
    held?.()
    return watch.onOpen?.(...opened)
  }}, context)
  const swept = choice.unattended
    ? await untilOver(plan, {once, next: () => planAgain(plan, place, choice, context), isOwnLock: (error) => isHeldBy(error, driverName(choice, context)), lost: (error) => watch.onLost?.(error)}, PATIENCE, context)
    : await once(plan)
  return {...swept, time: Date.now() - begin}
}

/** As long as there is a connection. */
async function drive(plan: SweepPlan, place: TrainPlace, choice: SweepChoice, parent: Partial<Parent>, watch: SweepWatch, context: Context): Promise<Omit<Swept, 'time'>> {
  const live: Live = {}
  try {
    const outcomes = await executePlan(plan.plan, handlersOf(plan, place, choice, live, parent, watch, context), context)
    // Of steps on nodes only those of the workspaces are one of many.
    const whole = outcomes.find((one) => one.status === 'failed' && one.step.kind.startsWith('sweep.'))
    if (whole?.error) throw whole.error
    throwIfFailed(outcomes)
    const engine = live.engine
    if (!engine) throw new Error('a sweep without its engine')
    await engine.close()
    const sweep = await plan.head.call<Sweep>('sweep.show', {sweep: plan.sweep}, {signal: context.kill})
    return {...sweep, best: bestOf(sweep.trials, sweep.spec.goal), background: await findBackground(plan.sweep, context), limit: live.limit ?? sweep.trials.length}
  } finally {
    await live.engine?.close()
    await live.tracking?.close()
  }
}

function handlersOf(plan: SweepPlan, place: TrainPlace, choice: SweepChoice, live: Live, parent: Partial<Parent>, watch: SweepWatch, context: Context): Record<string, StepHandler> {
  const {manifest} = place
  return {
    ...plan.workspaces.handlers,
    'sweep.reach': async () => {
      live.tracking = await openTrainTracking(place, context)
    },
    'sweep.preflight': () => lookOverNodes(place, plan.nodes, plan.hosts, choice.preflight, context),
    'sweep.engine': () => ensureEnvironment(plan.head, {requirements: plan.requirements, user: 'sweep'}, context),
    'sweep.open': async (_step, done) => {
      const tracking = live.tracking as Tracking
      const {tracked, source} = await parentOf(plan, place, tracking, parent, context)
      const record = plan.resumed ? undefined : {project: manifest.name, owner: ownerName(context), spec: plan.spec, command: plan.command, tracked, experiment: manifest.tracking.experiment}
      const python = `${(done.get('engine') as Environment).path}/bin/python`
      live.engine = new Engine(plan.head, {sweep: plan.sweep, python, owner: driverName(choice, context), ...(record ? {record} : {spec: plan.spec})}, context)
      const {trials, limit} = await live.engine.ready
      if (plan.resumed) await tracking.mlflow.updateRun(tracked, {status: 'RUNNING'})
      const tags = {'mlflow.parentRunId': tracked, 'flexrack.sweep': plan.sweep}
      Object.assign(live, {trials, limit, tracked, shared: {workspaces: plan.workspaces.workspaces, tracking, tags, source}})
      await watch.onOpen?.(plan.sweep, plan.resumed !== undefined)
    },
    'sweep.trials': async () => {
      const {engine, tracking, shared, trials = [], limit = 0, tracked = ''} = live
      if (!engine || !tracking || !shared) throw new Error('trials before the sweep was opened')
      const driver = new Driver({plan, place, engine, tracking, shared, limit, watch, fleetChoice: {on: choice.on, exclude: choice.exclude}}, context)
      let status: 'finished' | 'stopped' | 'failed' | 'interrupted' = 'failed'
      try {
        status = await driver.drive(trials)
      } catch (error) {
        if (error instanceof CliError && error.code !== 'RUN_FAILED') status = 'interrupted'
        throw withWayOn(error, plan.sweep)
      } finally {
        await engine.finish(status).catch(() => {})
        await closeParent(tracking, tracked, status, driver.best(), plan).catch((error: Error) => context.reporter.warn(`the record of sweep ${plan.sweep} is not complete: ${error.message}`))
      }
      if (status === 'interrupted') {
        context.reporter.note(`sweep ${plan.sweep} is kept; it goes on with: flexrack sweep --resume ${plan.sweep}`)
        throwIfInterrupted(context.signal)
      }
    },
  }
}

async function parentOf(plan: SweepPlan, place: TrainPlace, tracking: Tracking, known: Partial<Parent>, context: Context): Promise<Parent> {
  const {tracked, source} = known
  if (tracked !== undefined && source) return {tracked, source}
  const made = await recordParent(place, tracking, {name: plan.sweep, known: plan.resumed?.tracked, tags: tagsOf(plan)}, context)
  return Object.assign(known, {tracked: made.runId, source: made.source})
}

/** Who drives it, for others. */
function driverName({unattended}: SweepChoice, context: Context): string {
  return `${ownerName(context)}${unattended ? ` (in the background, process ${process.pid})` : ''}`
}

/** The engine of a link that died without a word keeps its lock for some minutes. */
function isHeldBy(error: unknown, owner: string): boolean {
  return isCliError(error, 'LOCKED') && (error.details.holder as {owner?: string} | undefined)?.owner === owner
}

function tagsOf({sweep, spec, command}: SweepPlan): Record<string, string> {
  return {
    'flexrack.sweep': sweep,
    'flexrack.command': command.join(' '),
    'flexrack.sweep.metric': `${spec.goal} ${spec.metric}`,
    'flexrack.sweep.sampler': spec.sampler,
    'flexrack.sweep.pruner': spec.pruner.name,
    'mlflow.source.name': command[0] ?? '',
  }
}

async function closeParent({mlflow}: Tracking, tracked: string, status: string, best: Trial | null, {spec}: SweepPlan): Promise<void> {
  if (best && best.value !== null) {
    const now = Date.now()
    await mlflow.logBatch(tracked, {metrics: [{key: `best_${spec.metric}`, value: best.value, timestamp: now, step: best.number}], tags: {'flexrack.sweep.best': best.run ?? ''}})
  }
  await mlflow.updateRun(tracked, {status: status === 'finished' ? 'FINISHED' : status === 'failed' ? 'FAILED' : 'KILLED', endTime: Date.now()})
}

/** What is there is kept: every error but that of the trials themselves says how to go on. */
function withWayOn(error: unknown, sweep: string): unknown {
  if (!(error instanceof CliError) || error.code === 'RUN_FAILED') return error
  const way = `flexrack sweep --resume ${sweep}`
  return new CliError(error.code, error.message, {hint: error.hint ? `${error.hint}\n${way}` : way, details: error.details, cause: error})
}
