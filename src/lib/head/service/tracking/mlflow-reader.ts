import {request} from 'node:http'
import {Failure} from '../failure.ts'
import {PROJECT_HEADER} from '../people/person.ts'
import {PARENT_TAG, USER_TAG} from './scope-tags.ts'
import type {Lookup} from './scope.ts'

const MOST_KEPT = 10_000

/** MLflow's socket, and the workspace that is meant there; the socket alone: MLflow's default. */
export type MlflowPlace = string | {socket: string; workspace: string}

/** A GET on MLflow's socket: status and text. Rejects without an answer. */
export function readMlflow(
  place: MlflowPlace,
  path: string,
  timeout = 10_000,
): Promise<{status: number; text: string}> {
  return askMlflow(place, path, undefined, timeout)
}

/** A GET on MLflow's socket, with a body a POST: status and text. Rejects without an answer. */
export function askMlflow(
  place: MlflowPlace,
  path: string,
  body?: Record<string, unknown>,
  timeout = 10_000,
): Promise<{status: number; text: string}> {
  const {socket: socketPath, workspace} = typeof place === 'string' ? {socket: place, workspace: undefined} : place
  const headers = {
    host: 'localhost',
    ...(body && {'content-type': 'application/json'}),
    ...(workspace !== undefined && {[PROJECT_HEADER]: workspace}),
  }
  return new Promise((resolve, reject) => {
    const call = request({socketPath, path, method: body ? 'POST' : 'GET', headers, timeout}, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => resolve({status: answer.statusCode ?? 0, text}))
      answer.on('error', reject)
    })
    call.on('timeout', () => call.destroy(new Error('no answer in time')))
    call.on('error', reject)
    call.end(body && JSON.stringify(body))
  })
}

/**
 * What the policy for run tokens asks, answered by MLflow and remembered: a run's parent and folder do not change under
 * other hands.
 */
export function openLookup(place: MlflowPlace): Pick<Lookup, 'run' | 'model' | 'trace'> {
  const runs = new Map<string, NonNullable<Awaited<ReturnType<Lookup['run']>>>>()
  const models = new Map<string, NonNullable<Awaited<ReturnType<Lookup['model']>>>>()
  return {
    run: (id) =>
      remember(runs, id, async () => {
        const run = await readRun(place, id)
        if (!run) return undefined
        return {
          parent: tagOf(run, PARENT_TAG),
          user: tagOf(run, USER_TAG),
          experiment: run.info.experiment_id,
          artifacts: folderOf(run.info.artifact_uri),
        }
      }),
    model: (id) =>
      remember(models, id, async () => {
        const model = await readModel(place, id)
        if (!model) return undefined
        const {source_run_id: run, artifact_uri: artifacts, experiment_id: experiment} = model.info
        return {run: run || undefined, artifacts: folderOf(artifacts), experiment}
      }),
    // Asked each time: it may have come into being since.
    trace: async (id) => {
      const {status, text} = await readMlflow(place, `/api/3.0/mlflow/traces/${encodeURIComponent(id)}`)
      if (status === 404) return undefined
      const found =
        status === 200
          ? (JSON.parse(text) as WireTrace).trace?.trace_info?.trace_location?.mlflow_experiment?.experiment_id
          : undefined
      if (found === undefined)
        throw new Failure(502, 'HEAD_FAILED', `the tracking server does not say whose the trace is (status ${status})`)
      return found
    },
  }
}

/** A run as MLflow tells it, without what nobody here reads. */
export interface WireRun {
  info: {artifact_uri: string; experiment_id: string}
  data?: {
    tags?: {key: string; value: string}[]
    metrics?: {key: string}[]
    params?: {key: string; value: string}[]
  }
}

/** Undefined where that place has no such run, or does not tell it. Rejects without an answer. */
export async function readRun(place: MlflowPlace, id: string): Promise<WireRun | undefined> {
  return (await read<{run?: WireRun}>(place, `/api/2.0/mlflow/runs/get?run_id=${encodeURIComponent(id)}`))?.run
}

export function tagOf({data}: WireRun, name: string): string | undefined {
  return data?.tags?.find((tag) => tag.key === name)?.value
}

/** A logged model, as readRun. */
export async function readModel(place: MlflowPlace, id: string): Promise<WireModel | undefined> {
  const path = `/api/2.0/mlflow/logged-models/${encodeURIComponent(id)}`
  return (await read<{model?: WireModel}>(place, path))?.model
}

interface WireModel {
  info: {source_run_id?: string; artifact_uri: string; experiment_id?: string}
}

interface WireTrace {
  trace?: {trace_info?: {trace_location?: {mlflow_experiment?: {experiment_id?: string}}}}
}

async function read<T>(place: MlflowPlace, path: string): Promise<T | undefined> {
  const {status, text} = await readMlflow(place, path)
  return status === 200 ? (JSON.parse(text) as T) : undefined
}

async function remember<T>(
  known: Map<string, T>,
  id: string,
  find: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const found = known.get(id) ?? (await find())
  if (found === undefined) return undefined
  if (known.size >= MOST_KEPT) known.clear()
  known.set(id, found)
  return found
}

/** `mlflow-artifacts:/1/<run>/artifacts` -> `1/<run>/artifacts`; the empty folder of another scheme matches no path. */
function folderOf(uri: string): string {
  const found = /^mlflow-artifacts:\/+(.*)$/.exec(uri)
  return found ? decodeURIComponent(found[1]!).replace(/\/+$/, '') : '\0'
}
