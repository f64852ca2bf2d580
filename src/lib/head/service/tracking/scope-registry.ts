import {Failure} from '../failure.ts'
import {folded} from './scope-tags.ts'
import type {Caller} from '../tokens/token-kinds.ts'

type RunCaller = Extract<Caller, {kind: 'run'}>

/** Whose a registered model is, as MLflow's own store tells. */
export interface RegisteredModel {
  /** Experiment that it belongs to; undefined where nothing says so. */
  owner: string | undefined
  /** True where it has no version yet. */
  isEmpty: boolean
}

export interface RegistryLookup {
  /** Undefined where there is no model of that name. Throws where MLflow does not say. */
  registered(name: string): Promise<RegisteredModel | undefined>
  /** Gives a model that is nobody's to an experiment, unless it has become somebody's. Gives the owner. */
  claim(name: string, experimentId: string): Promise<string | undefined>
}

/** Tag of a registered model: id of the experiment (a project has one) that it belongs to. */
export const OWNER_TAG = 'flexrack.experiment'

const WRITES: Record<string, Set<string>> = {
  POST: new Set([
    'registered-models/create',
    'registered-models/set-tag',
    'registered-models/alias',
    'model-versions/create',
    'model-versions/set-tag',
    'model-versions/transition-stage',
  ]),
  PATCH: new Set(['registered-models/update', 'model-versions/update']),
  DELETE: new Set(['registered-models/alias', 'registered-models/delete-tag', 'model-versions/delete-tag']),
}

/**
 * True of calls that write to the registry and that a run may make at all: it renames and deletes neither models nor
 * versions.
 */
export function isRegistryWrite(method: string, call: string): boolean {
  return WRITES[method]?.has(call) ?? false
}

/**
 * Confines a run's write to models of its project. A model belongs to the experiment in its tag; one without the tag to
 * the experiment of the run that its first version came from. A name that is nobody's belongs to the first project that
 * writes to it. Gives the body that MLflow is to get instead, where that is another. Throws 403 with the reason, 404
 * where there is no such model.
 */
export async function checkRegistryWrite(
  caller: RunCaller,
  call: string,
  body: Record<string, unknown>,
  lookup: RegistryLookup,
): Promise<Record<string, unknown>> {
  const {name} = body
  if (typeof name !== 'string' || name === '') throw refusal(caller, 'the call names no model')
  if (call.startsWith('registered-models/') && folded(body.key) === OWNER_TAG)
    throw refusal(caller, `the tag ${OWNER_TAG} says whose a model is, and a run does not change it`)
  // The name may be taken: then MLflow says so and nothing is changed.
  if (call === 'registered-models/create')
    return {...body, tags: [...otherTags(caller, body.tags), {key: OWNER_TAG, value: caller.experimentId}]}
  const model = await lookup.registered(name)
  if (!model) throw new Failure(404, 'NOT_FOUND', `there is no registered model ${name}`)
  const owner = model.owner ?? (model.isEmpty ? await lookup.claim(name, caller.experimentId) : undefined)
  if (owner === undefined)
    throw refusal(caller, `the model ${name} belongs to no project: its tag ${OWNER_TAG} says to which experiment`)
  if (owner !== caller.experimentId) throw refusal(caller, `the model ${name} belongs to experiment ${owner}`)
  return body
}

function otherTags(caller: RunCaller, tags: unknown): unknown[] {
  if (tags === undefined || tags === null) return []
  if (!Array.isArray(tags)) throw refusal(caller, 'tags must be a list')
  if (tags.some((tag: {key?: unknown} | null) => folded(tag?.key) === OWNER_TAG))
    throw refusal(caller, `the tag ${OWNER_TAG} is set by the head`)
  return tags
}

function refusal(caller: RunCaller, reason: string): Failure {
  return new Failure(403, 'REFUSED', `this token belongs to run ${caller.runId}: ${reason}`)
}
