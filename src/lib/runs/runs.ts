import {CliError, isCliError, type Context} from '../base/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Plan, PlanOf} from '../plan/index.ts'
import type {NodeRunDetail} from '../protocol/index.ts'
import type {Metric, TrackedRun} from '../tracking/index.ts'
import {compareRuns, type Comparison} from './compare.ts'
import {chooseRun, hostOf, lookForRuns, type Looked, type Place} from './find.ts'
import {openDashboard, type Dashboard} from './dashboard.ts'
import {efficiencyOf} from './efficiency.ts'
import {stateOf} from './leading.ts'
import {mergeRuns, type RunEntry} from './list.ts'
import {measuredOf, runFigures} from './measured.ts'
import {closeNeverStarted} from './never-started.ts'
import {carryOut, removePlan, repairPlan, stopPlan} from './plans.ts'
import {openRecords, RUN_TAG, searchRecords, type Records} from './records.ts'
import {reconcileRuns} from './reconcile.ts'
import {repairRun, unsentOf, type Repaired} from './repair.ts'
import {bringTraces, profileOf, type RunProfile} from './profile.ts'
import {openTracePage, type TracePage} from './trace-page.ts'
import {codesOf, ranksOf, type ShownRun} from './show.ts'
import {takeStacks, type RunStacks} from './stacks.ts'
import type {FoundRun} from './types.ts'
import {uploadRun, type Uploaded, type UploadKinds} from './upload.ts'
import type {RunView} from './view.ts'
import {waitForRun} from './wait.ts'
import {watchRun, type WatchOptions} from './watch.ts'

export interface RunsPlace extends Place {
  manifest?: Manifest | undefined
}

/**
 * The runs of a rack (of a project, where there is one). Nodes and the tracking server are asked when they are needed.
 */
export interface Runs {
  readonly place: Place
  /** The run that is meant, from the nodes alone: see findRun. */
  find(name: string | undefined): Promise<FoundRun>
  /** The tracking server, opened once, or why it cannot be asked. */
  records(): Promise<Records>
  /** Until the run is over: see watchRun. `records`: where the tracking server is open already. */
  watch(run: FoundRun, options: Omit<WatchOptions, 'records'> & {records?: Records}, context: Context): Promise<RunView>
  /** All that the nodes know. */
  look(): Promise<Looked>
  /** What stopRun would do. */
  planStop(run: FoundRun, how: {grace?: number | undefined; kill?: boolean}): Plan
  /** What remove would do. */
  planRemove(run: FoundRun): Plan
  /** Until the run is over, whoever leads it: see waitForRun. */
  wait(run: FoundRun, timeout: number | undefined): Promise<NodeRunDetail>
  /** See takeStacks. */
  stacks(run: FoundRun, rank: number | undefined): Promise<RunStacks>
  /** See profileOf. */
  profile(run: FoundRun): Promise<RunProfile>
  /** See bringTraces. */
  bringTraces(profile: Pick<RunProfile, 'run' | 'ranks'>, folder: string): Promise<string[]>
  /** See openTracePage. */
  openTrace(trace: string, how: {port?: number | undefined; title: string}): Promise<TracePage>
  /** See openDashboard. */
  dashboard(run: FoundRun): Promise<Dashboard>
  /** Newest first. `all`: of every project. Completes records that a lost head left open. */
  list(options: {all: boolean; limit: number}): Promise<{runs: RunEntry[]; away: string | null; unasked: string[]}>
  /** `against`: the run that its scaling is compared with. */
  show(name: string | undefined, options?: {against?: string | undefined}): Promise<ShownRun>
  /** Deletes the run's files on its nodes and its record at the tracking server. CONFLICT while it is running. */
  remove(run: FoundRun): Promise<{run: string; nodes: string[]; record: boolean}>
  /** What repair would do. */
  planRepair(run: FoundRun): Promise<Plan>
  /** See repairRun; asks first which nodes hold something. */
  repair(run: FoundRun): Promise<Repaired>
  /** See uploadRun. */
  upload(run: FoundRun, options: {dryRun: boolean}): Promise<Uploaded | PlanOf<UploadKinds>>
  compare(names: string[]): Promise<Comparison>
  /** Every value of a metric. NOT_FOUND with the names there are. */
  history(
    name: string | undefined,
    metric: string | undefined,
  ): Promise<{run: string; metric: string; values: Metric[]; metrics: string[]}>
  close(): Promise<void>
}

/** Opens them; makes no connection yet. */
export function openRuns(place: RunsPlace, context: Context): Runs {
  const project = place.project ?? place.manifest?.name
  const whole: RunsPlace = {...place, project, hosts: new Map()}
  let records: Promise<Records> | undefined
  const getRecords = (): Promise<Records> => (records ??= openRecords(whole, context))
  const look = async (): Promise<Looked> => {
    const looked = await lookForRuns(whole, context)
    for (const [node, error] of looked.failed) context.reporter.warn(`${node} was not asked: ${error.message}`)
    return looked
  }
  /** A run that may be known only to the tracking server. */
  const findRecord = async (name: string): Promise<TrackedRun> => {
    const open = await getRecords()
    if (!open.tracking)
      throw new CliError(
        'NOT_FOUND',
        `what ${name} logged is at the tracking server, which was not asked: ${open.away}`,
        {hint: 'flexrack head status'},
      )
    const found = (await searchRecords(open, undefined, 1000)).filter(
      (one) => one.tags[RUN_TAG] === name || one.id === name,
    )
    if (found[0]) return found[0]
    if (open.away) throw new CliError('HEAD_FAILED', open.away, {hint: 'flexrack head status'})
    throw new CliError('NOT_FOUND', `the tracking server has no run ${name}`, {hint: 'flexrack runs list'})
  }
  const nameOf = async (name: string | undefined): Promise<string> => {
    try {
      return chooseRun((await look()).runs, name, project).run
    } catch (error) {
      if (name === undefined || !isCliError(error, 'NOT_FOUND')) throw error
      const record = await findRecord(name).catch(() => undefined)
      if (!record) throw error
      return record.tags[RUN_TAG] as string
    }
  }
  /** A single word that is no run may be a metric of the newest one. */
  const findForMetric = async (
    name: string | undefined,
    metric: string | undefined,
  ): Promise<{run: string; record: TrackedRun; requested: string | undefined}> => {
    try {
      const run = await nameOf(name)
      return {run, record: await findRecord(run), requested: metric}
    } catch (error) {
      if (name === undefined || metric !== undefined || !isCliError(error, 'NOT_FOUND')) throw error
      const run = await nameOf(undefined).catch(() => undefined)
      const record = run === undefined ? undefined : await findRecord(run).catch(() => undefined)
      if (run === undefined || !record || !Object.hasOwn(record.metrics, name)) throw error
      return {run, record, requested: name}
    }
  }
  return {
    place: whole,
    find: async (name) => {
      const {runs, failed} = await look()
      return chooseRun(runs, name, project, [...failed.keys()])
    },
    records: getRecords,
    watch: async (run, options, own) =>
      watchRun(whole, run, {...options, records: options.records ?? (await getRecords())}, own),
    look: () => lookForRuns(whole, context),
    planStop: stopPlan,
    planRemove: removePlan,
    wait: (run, timeout) => waitForRun(whole, run, {timeout, signal: context.signal}, context),
    stacks: (run, rank) => takeStacks(whole, run, rank, context),
    profile: (run) => profileOf(whole, run, context),
    bringTraces: (profile, folder) => bringTraces(whole, profile, folder, context),
    openTrace: (trace, how) => openTracePage(trace, how, context),
    dashboard: (run) => openDashboard(whole, run, context),
    async list({all, limit}) {
      const experiment = all ? undefined : place.manifest?.tracking.experiment
      const [looked, open] = await Promise.all([look(), getRecords()])
      await reconcileRuns(whole, looked.runs, open, context)
      const tracked = await searchRecords(open, experiment, limit)
      await closeNeverStarted(whole.rack, looked.runs, open, tracked, looked.failed)
      const again = looked.runs.some((run) => run.nodes.some((one) => one.recorded === false))
        ? await lookForRuns(whole, context)
        : looked
      const found = again.runs.filter((one) => all || project === undefined || stateOf(one).project === project)
      const runs = mergeRuns(found, tracked, {everyNodeQueried: looked.failed.size === 0}).slice(0, limit)
      return {runs, away: open.away ?? null, unasked: [...looked.failed.keys()]}
    },
    async show(name, {against} = {}) {
      const [looked, open] = await Promise.all([look(), getRecords()])
      const found = await findOr(() => chooseRun(looked.runs, name, project, [...looked.failed.keys()]), name)
      if (found) await reconcileRuns(whole, [found], open, context)
      const details = found ? await detailsOf(whole, found, context) : []
      const trackedId = found ? stateOf(found).tracked : null
      const record = found ? await recordOf(open, trackedId) : await findRecord(name as string)
      const fresh: FoundRun[] = found ? [{...found, nodes: details}] : []
      const [entry] = mergeRuns(fresh, record ? [record] : [], {everyNodeQueried: true})
      if (!entry) throw new CliError('NOT_FOUND', `there is no run ${name ?? ''}`, {hint: 'flexrack runs list'})
      const leader = details.length > 0 ? stateOf({run: name ?? '', nodes: details}) : undefined
      const figures = found ? runFigures(await measuredOf(whole, found, context), details, Date.now() / 1000) : null
      const other =
        against === undefined ? undefined : chooseRun(looked.runs, against, project, [...looked.failed.keys()])
      const scaling =
        found && figures
          ? await efficiencyOf(
              whole,
              {run: found.run, nodes: details},
              {figures, command: leader?.command ?? [], runs: looked.runs, against: other},
              context,
            )
          : null
      const artifacts =
        record && open.tracking ? await open.tracking.mlflow.walkArtifacts(record.id).catch(() => []) : []
      return {
        ...entry,
        command: leader?.command ?? record?.tags['flexrack.command']?.split(' ') ?? [],
        environment: leader?.environment ?? record?.tags['flexrack.environment'] ?? null,
        commit: leader?.commit ?? record?.tags['mlflow.source.git.commit'] ?? null,
        code: codesOf(details),
        data: leader?.data ?? [],
        uploads: details.flatMap(({node, uploaded}) => (uploaded ? [{node, ...uploaded}] : [])),
        params: record?.params ?? {},
        tags: record?.tags ?? {},
        lastMetrics: Object.values(record?.metrics ?? {})
          .filter((one) => !one.key.startsWith('system/'))
          .sort((a, b) => a.key.localeCompare(b.key)),
        artifacts,
        attempts: leader?.result?.attempts ?? [],
        ranks: ranksOf(details),
        figures,
        scaling,
        unsent: found ? await unsentOf(whole, found, context) : [],
        hangs: details.flatMap((one) => one.hangs ?? []).sort((a, b) => a.at - b.at),
        folders: Object.fromEntries(details.map((one) => [one.node, one.folder])),
        away: open.away ?? null,
      }
    },
    async remove(run) {
      const trackedId = stateOf(run).tracked
      const open = trackedId === null ? undefined : await getRecords()
      if (trackedId !== null && !open?.tracking)
        throw new CliError('HEAD_FAILED', `${open?.away}, so the record of ${run.run} cannot be removed`, {
          hint: 'flexrack head start',
        })
      const failed = (await carryOut(removePlan(run), {place: whole, tracking: open?.tracking, context})).find(
        (one) => one.error,
      )
      if (failed?.error) throw failed.error
      return {run: run.run, nodes: run.nodes.map((one) => one.node), record: trackedId !== null}
    },
    planRepair: async (run) => repairPlan(run, await unsentOf(whole, run, context)),
    async repair(run) {
      const unsent = await unsentOf(whole, run, context)
      return unsent.length === 0
        ? {run: run.run, nodes: []}
        : repairRun(whole, run, unsent, await getRecords(), context)
    },
    upload: async (run, {dryRun}) =>
      uploadRun(
        {place: whole, run, details: await detailsOf(whole, run, context), records: getRecords},
        dryRun,
        context,
      ),
    async compare(names) {
      const ids: string[] = []
      for (const name of names) ids.push(await nameOf(name))
      return compareRuns(ids, await Promise.all(ids.map(findRecord)))
    },
    async history(name, metric) {
      const {run, record, requested} = await findForMetric(name, metric)
      const metrics = Object.keys(record.metrics).sort()
      const chosen = requested ?? metrics[0]
      if (chosen === undefined || !metrics.includes(chosen)) {
        throw new CliError(
          'NOT_FOUND',
          metrics.length === 0 ? `run ${run} has no metrics` : `run ${run} has no metric ${chosen}`,
          {
            details: {metrics},
            hint: metrics[0] ? `flexrack runs plot ${run} ${metrics[0]}` : `flexrack runs show ${run}`,
          },
        )
      }
      const {tracking} = await getRecords()
      return {run, metric: chosen, metrics, values: (await tracking?.mlflow.metricHistory(record.id, chosen)) ?? []}
    },
    close: async () => {
      const open = await records?.catch(() => undefined)
      await open?.tracking?.close()
    },
  }
}

async function detailsOf(place: Place, run: FoundRun, context: Context): Promise<NodeRunDetail[]> {
  return Promise.all(
    run.nodes.map(async ({node}) =>
      (await hostOf(place, node, context)).call('run.state', {run: run.run}, {signal: context.signal}),
    ),
  )
}

async function recordOf(records: Records, trackedId: string | null): Promise<TrackedRun | undefined> {
  if (trackedId === null || !records.tracking) return undefined
  try {
    return await records.tracking.mlflow.getRun(trackedId)
  } catch (error) {
    if (!isCliError(error)) throw error
    records.away = error.message
    return undefined
  }
}

/** A run that no node knows may still have a record, if it was named whole. */
async function findOr(choose: () => FoundRun, name: string | undefined): Promise<FoundRun | undefined> {
  try {
    return choose()
  } catch (error) {
    if (name !== undefined && isCliError(error, 'NOT_FOUND') && error.details.nearest === undefined) return undefined
    throw error
  }
}
