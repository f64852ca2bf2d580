import {CliError, type Context} from '../base/index.ts'
import {openDesk} from '../holding/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Plan, PlanOf} from '../plan/index.ts'
import type {NodeRunDetail} from '../protocol/index.ts'
import type {Metric} from '../tracking/index.ts'
import {compareRuns, type Comparison} from './compare.ts'
import {chooseRun, lookForRuns, type Looked, type Place} from './find.ts'
import {openDashboard, type Dashboard} from './dashboard.ts'
import {stateOf} from './leading.ts'
import {mergeRuns, type RunEntry} from './list.ts'
import {closeNeverStarted} from './never-started.ts'
import {carryOut, removePlan, repairPlan, stopPlan} from './plans.ts'
import {openRecords, searchRecords, type Records} from './records.ts'
import {reconcileRuns} from './reconcile.ts'
import {findRecord, historyOf, nameOf, type Sources} from './recorded.ts'
import {repairRun, unsentOf, type Repaired} from './repair.ts'
import {bringTraces, profileOf, type RunProfile} from './profile.ts'
import {openTracePage, type TracePage} from './trace-page.ts'
import type {ShownRun} from './show.ts'
import {detailsOf, showRun} from './show-run.ts'
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
  const sources: Sources = {project, look, records: getRecords}
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
    show: (name, {against} = {}) => showRun(sources, whole, name, against, context),
    async remove(run) {
      const trackedId = stateOf(run).tracked
      const open = trackedId === null ? undefined : await getRecords()
      if (trackedId !== null && !open?.tracking)
        throw new CliError('HEAD_FAILED', `${open?.away}, so the record of ${run.run} cannot be removed`, {
          hint: 'flexrack head start',
        })
      const desk = await openDesk(whole, context, open?.tracking?.head)
      const outcomes = await carryOut(removePlan(run), {place: whole, tracking: open?.tracking, desk, context})
      const failed = outcomes.find((one) => one.error)
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
      for (const name of names) ids.push(await nameOf(sources, name))
      return compareRuns(ids, await Promise.all(ids.map((id) => findRecord(sources, id))))
    },
    history: (name, metric) => historyOf(sources, name, metric),
    close: async () => {
      const open = await records?.catch(() => undefined)
      await open?.tracking?.close()
    },
  }
}
