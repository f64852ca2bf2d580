import {setTimeout as pause} from 'node:timers/promises'
import {CliError, isCliError} from '../base/index.ts'
import {readPages, type Api} from './api.ts'
import {batches, metricOf, pairs, runOf, type WireMetric, type WireRun} from './wire.ts'
import type {Batch, Experiment, Metric, RunStatus, TrackedRun} from './types.ts'

/** Tries to record the data sets of a run. */
const INPUT_GOES = 5

/**
 * Experiments, runs and metrics. Every call may throw NODE_UNREACHABLE, REFUSED, TIMED_OUT, HEAD_FAILED; those that
 * name something NOT_FOUND.
 */
export interface RunCalls {
  /** The experiment of that name, deleted ones included; undefined if there is none. */
  findExperiment(name: string): Promise<Experiment | undefined>
  /** The experiment of that name, made if it is not there. CONFLICT if it was deleted and not yet purged. */
  ensureExperiment(name: string): Promise<Experiment>
  searchExperiments(limit?: number): Promise<Experiment[]>
  createRun(input: {
    experimentId: string
    name: string
    user?: string
    startTime?: number
    tags?: Record<string, string>
  }): Promise<TrackedRun>
  getRun(runId: string): Promise<TrackedRun>
  /** endTime in milliseconds; set it with an ended status. */
  updateRun(runId: string, change: {status?: RunStatus; endTime?: number; name?: string}): Promise<void>
  deleteRun(runId: string): Promise<void>
  restoreRun(runId: string): Promise<void>
  /**
   * Newest first unless orderBy (MLflow's grammar, `metrics.accuracy DESC`) says otherwise. All pages up to `limit`,
   * default 1000.
   */
  searchRuns(input: {
    experimentIds: string[]
    filter?: string
    orderBy?: string[]
    view?: 'ACTIVE_ONLY' | 'DELETED_ONLY' | 'ALL'
    limit?: number
  }): Promise<TrackedRun[]>
  /**
   * Any number of metrics, params and tags, cut into calls the server accepts. Logging the same thing again changes
   * nothing.
   */
  logBatch(runId: string, batch: Batch): Promise<void>
  /**
   * Data sets that a run reads (POST runs/log-inputs, MLflow's REST API): a digest there has at most 36 characters, so
   * all of it is in the source.
   */
  logInputs(runId: string, data: readonly {name: string; digest: string; source: string}[]): Promise<void>
  setTag(runId: string, key: string, value: string): Promise<void>
  deleteTag(runId: string, key: string): Promise<void>
  /** Every value that was logged, oldest first. */
  metricHistory(runId: string, key: string): Promise<Metric[]>
}

export function runCalls(api: Api): RunCalls {
  return {
    findExperiment: (name) => findExperiment(api, name),
    ensureExperiment: (name) => ensureExperiment(api, name),
    searchExperiments: (limit = 1000) =>
      readPages(limit, async (token) => {
        const page = await api.send<{experiments?: WireExperiment[]; next_page_token?: string}>(
          'POST',
          '/experiments/search',
          {max_results: Math.min(limit, 1000), page_token: token},
        )
        return {items: page.experiments?.map(experimentOf), next: page.next_page_token}
      }),
    async createRun({experimentId, name, user, startTime, tags}) {
      const body = {
        experiment_id: experimentId,
        run_name: name,
        user_id: user,
        start_time: startTime ?? Date.now(),
        tags: pairs(tags),
      }
      return runOf((await api.send<{run: WireRun}>('POST', '/runs/create', body)).run)
    },
    getRun: async (runId) => runOf((await api.get<{run: WireRun}>('/runs/get', {run_id: runId})).run),
    updateRun: (runId, {status, endTime, name}) =>
      api.send('POST', '/runs/update', {run_id: runId, status, end_time: endTime, run_name: name}),
    deleteRun: (runId) => api.send('POST', '/runs/delete', {run_id: runId}),
    restoreRun: (runId) => api.send('POST', '/runs/restore', {run_id: runId}),
    searchRuns: ({experimentIds, filter, orderBy, view, limit = 1000}) =>
      readPages(limit, async (token) => {
        const body = {
          experiment_ids: experimentIds,
          filter,
          order_by: orderBy ?? ['attributes.start_time DESC'],
          run_view_type: view,
          max_results: Math.min(limit, 1000),
          page_token: token,
        }
        const page = await api.send<{runs?: WireRun[]; next_page_token?: string}>('POST', '/runs/search', body)
        return {items: page.runs?.map(runOf), next: page.next_page_token}
      }),
    async logBatch(runId, batch) {
      for (const part of batches(batch)) await api.send('POST', '/runs/log-batch', {run_id: runId, ...part})
    },
    logInputs: (runId, data) => logInputs(api, runId, data),
    setTag: (runId, key, value) => api.send('POST', '/runs/set-tag', {run_id: runId, key, value}),
    deleteTag: (runId, key) => api.send('POST', '/runs/delete-tag', {run_id: runId, key}),
    metricHistory: (runId, key) =>
      readPages(Infinity, async (token) => {
        const page = await api.get<{metrics?: WireMetric[]; next_page_token?: string}>('/metrics/get-history', {
          run_id: runId,
          metric_key: key,
          max_results: 10_000,
          page_token: token,
        })
        return {items: page.metrics?.map(metricOf), next: page.next_page_token}
      }),
  }
}

async function findExperiment(api: Api, name: string): Promise<Experiment | undefined> {
  try {
    const {experiment} = await api.get<{experiment: WireExperiment}>('/experiments/get-by-name', {
      experiment_name: name,
    })
    return experimentOf(experiment)
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

async function ensureExperiment(api: Api, name: string): Promise<Experiment> {
  const known = await findExperiment(api, name)
  if (known?.stage === 'deleted') {
    throw new CliError('CONFLICT', `experiment ${name} was deleted and its name is still taken`, {
      hint: 'restore it in the tracking server, or choose another tracking.experiment',
    })
  }
  if (known) return known
  try {
    const {experiment_id: id} = await api.send<{experiment_id: string}>('POST', '/experiments/create', {name})
    return {id, name, stage: 'active'}
  } catch (error) {
    // somebody made it in the meantime
    const other = isCliError(error, 'CONFLICT') ? await findExperiment(api, name) : undefined
    if (other) return other
    throw error
  }
}

async function logInputs(api: Api, ...[runId, data]: Parameters<RunCalls['logInputs']>): Promise<void> {
  const datasets = data.map(({name, digest, source}) => ({
    tags: [{key: 'mlflow.data.context', value: 'training'}],
    dataset: {
      name,
      digest: digest.slice(0, 32),
      source_type: 'flexrack',
      source: JSON.stringify({digest, from: source}),
    },
  }))
  // Of runs that name a new data set at the same time, MLflow's store lets one make it; the others find it when
  // they ask again.
  for (let go = 1; ; go++) {
    try {
      await api.send('POST', '/runs/log-inputs', {run_id: runId, datasets})
      return
    } catch (error) {
      if (!isCliError(error, 'HEAD_FAILED') || go === INPUT_GOES) throw error
      await pause(go * 100 + Math.random() * 200)
    }
  }
}

interface WireExperiment {
  experiment_id: string
  name: string
  lifecycle_stage: string
}

function experimentOf(wire: WireExperiment): Experiment {
  return {id: wire.experiment_id, name: wire.name, stage: wire.lifecycle_stage}
}
