/** What a call of MLflow's API is, read alike for whoever makes it. */

/** `runs/create`, whichever version of the API it is of. */
export function apiCallOf(path: string): string | undefined {
  return /^\/api\/[23]\.0\/(?:preview\/)?mlflow\/(.+)$/.exec(path)?.[1]
}

/** Where among artifacts it goes, as the client wrote it. */
export function artifactOf(path: string): string | undefined {
  return /^\/api\/2\.0\/mlflow-artifacts\/(?:artifacts|mpu\/[a-z]+|presigned[a-z-]*)\/(.+)$/.exec(path)?.[1]
}

/** Calls that read, although they are sent as POST. */
export const READS = new Set([
  'runs/search',
  'experiments/search',
  'logged-models/search',
  'registered-models/get-latest-versions',
  'traces/search',
  'metrics/get-history-bulk-interval',
])
/** True of a call that changes nothing. */
export function onlyReads(method: string, path: string): boolean {
  return method === 'GET' || method === 'HEAD' || READS.has(apiCallOf(path) ?? '')
}

export const RUN_WRITES = new Set([
  'runs/update',
  'runs/log-batch',
  'runs/log-metric',
  'runs/log-parameter',
  'runs/set-tag',
  'runs/delete-tag',
  'runs/log-inputs',
  'runs/outputs',
  'runs/log-model',
])

/**
 * MLflow takes every field under two names, run_id and runId. Only the first is looked at, so only that may be there:
 * why a body is refused, if it is.
 */
export function nameObjection(fields: object): string | undefined {
  const other = Object.keys(fields).find((name) => /[A-Z]/.test(name))
  return other === undefined ? undefined : `the field ${other} must be written with underscores`
}

/** Every run that a body names: which of the two fields MLflow goes by is its own business. */
export function namedRuns({run_id: id, run_uuid: uuid}: Record<string, unknown>): unknown[] {
  return [id, uuid].filter((one) => one !== undefined && one !== null && one !== '')
}

/**
 * Every logged model that a run's call names: metrics and links of it are kept with the model, too. Undefined where a
 * part of the body has a name that is not looked at.
 */
export function namedModels(call: string, body: Record<string, unknown>): string[] | undefined {
  const lists: Record<string, unknown> = {
    'runs/log-metric': [body],
    'runs/log-batch': body.metrics,
    'runs/log-inputs': body.models,
    'runs/outputs': body.models,
  }
  const parts = lists[call] ?? []
  if (!Array.isArray(parts)) return undefined
  const ids = new Set<string>()
  for (const part of parts as unknown[]) {
    if (typeof part !== 'object' || part === null || nameObjection(part) !== undefined) return undefined
    const {model_id: id} = part as {model_id?: unknown}
    if (id !== undefined && id !== null && id !== '') ids.add(String(id))
  }
  return [...ids]
}

/** MLflow goes by the path in some calls of a logged model, and by the body in others. */
export function namesOther({model_id: named}: Record<string, unknown>, id: string): boolean {
  return named !== undefined && named !== id
}
