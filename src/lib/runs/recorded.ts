import {CliError, isCliError} from '../base/index.ts'
import type {Metric, TrackedRun} from '../tracking/index.ts'
import {chooseRun, type Looked} from './find.ts'
import {recordAt, RUN_TAG, searchRecords, type Records} from './records.ts'

/** Who knows of runs. Nodes and the tracking server are asked when they are needed. */
export interface Sources {
  project: string | undefined
  /** All that the nodes know. */
  look(): Promise<Looked>
  /** The tracking server, opened once, or why it cannot be asked. */
  records(): Promise<Records>
}

/** A run that may be known only to the tracking server. */
export async function findRecord({records}: Sources, name: string): Promise<TrackedRun> {
  const open = await records()
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

/** Of a run that a node has, or the tracking server alone. */
export async function nameOf(sources: Sources, name: string | undefined): Promise<string> {
  try {
    return chooseRun((await sources.look()).runs, name, sources.project).run
  } catch (error) {
    if (name === undefined || !isCliError(error, 'NOT_FOUND')) throw error
    const record = await findRecord(sources, name).catch(() => undefined)
    if (!record) throw error
    return record.tags[RUN_TAG] as string
  }
}

/** Every value of a metric. NOT_FOUND with the names there are. */
export async function historyOf(
  sources: Sources,
  name: string | undefined,
  metric: string | undefined,
): Promise<{run: string; metric: string; values: Metric[]; metrics: string[]}> {
  const {run, record, requested} = await findForMetric(sources, name, metric)
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
  const {tracking} = await sources.records()
  const home = tracking && (await recordAt(tracking, record.id))
  return {run, metric: chosen, metrics, values: (await home?.mlflow.metricHistory(record.id, chosen)) ?? []}
}

/** A single word that is no run may be a metric of the newest one. */
async function findForMetric(
  sources: Sources,
  name: string | undefined,
  metric: string | undefined,
): Promise<{run: string; record: TrackedRun; requested: string | undefined}> {
  try {
    const run = await nameOf(sources, name)
    return {run, record: await findRecord(sources, run), requested: metric}
  } catch (error) {
    if (name === undefined || metric !== undefined || !isCliError(error, 'NOT_FOUND')) throw error
    const run = await nameOf(sources, undefined).catch(() => undefined)
    const record = run === undefined ? undefined : await findRecord(sources, run).catch(() => undefined)
    if (run === undefined || !record || !Object.hasOwn(record.metrics, name)) throw error
    return {run, record, requested: name}
  }
}
