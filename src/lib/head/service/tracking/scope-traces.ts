import {folded} from './scope-tags.ts'

/** Where the server finds a trace's data: it reads there, and deletes there with the trace. */
const WHERE: ReadonlySet<unknown> = new Set([
  'mlflow.artifactlocation',
  'mlflow.trace.spanslocation',
  'mlflow.trace.archivelocation',
  'mlflow.trace.archivalfailure',
])
/** True of tags that only the server may set: it would read and delete where they say. */
export function isPlaceTag(key: unknown): boolean {
  return WHERE.has(folded(key))
}

const ID = /^[\w.-]{1,100}$/

/**
 * Why a trace is not to be told of, undefined where it may be; `find` gives the experiment of one that is known. MLflow
 * takes a second word of a trace for news of it, wherever it belongs, and one of an assessment likewise.
 */
export async function traceObjection(
  body: Record<string, unknown>,
  experimentId: string | undefined,
  find: (id: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const info = at(at(body, 'trace'), 'trace_info')
  if (info === undefined || experimentId === undefined || experimentOf(body) !== experimentId)
    return 'the trace is of another experiment'
  const {trace_id: id, tags = {}, assessments = []} = info
  if (typeof id !== 'string' || !ID.test(id)) return 'the trace has no plain trace_id'
  if (typeof tags !== 'object' || tags === null || Array.isArray(tags)) return 'tags of a trace must be an object'
  const where = Object.keys(tags).find(isPlaceTag)
  if (where !== undefined) return `the tag ${where} is set by the tracking server`
  if (!Array.isArray(assessments)) return 'assessments must be a list'
  if (!assessments.every((one: unknown) => isPlain(one) && (one.assessment_id ?? '') === ''))
    return 'an assessment gets its assessment_id from the tracking server'
  const owner = await find(id)
  return owner === undefined || owner === experimentId ? undefined : `the trace ${id} is of another experiment`
}

/** That a trace says to be of. */
export function experimentOf(body: Record<string, unknown>): string | undefined {
  const info = at(at(body, 'trace'), 'trace_info')
  const id = at(at(info, 'trace_location'), 'mlflow_experiment')?.experiment_id
  return typeof id === 'string' ? id : undefined
}

/** A part of a message that has no second name for a field (MLflow knows trace_id as traceId, too). */
function at(value: Record<string, unknown> | undefined, name: string): Record<string, unknown> | undefined {
  const part = value?.[name]
  return isPlain(part) ? part : undefined
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !Object.keys(value).some((name) => /[A-Z]/.test(name))
  )
}
