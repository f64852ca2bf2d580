import {Failure} from '../failure.ts'
import {isRegistryWrite} from '../tracking/scope-registry.ts'
import type {Lookup} from '../tracking/scope.ts'
import {ownerOfArtifact, plainArtifact} from '../tracking/artifact-paths.ts'
import {isTrackingApi} from '../tracking/open-calls.ts'
import {
  apiCallOf,
  artifactOf,
  namedModels,
  namedRuns,
  nameObjection,
  namesOther,
  onlyReads,
  RUN_WRITES,
} from '../tracking/scope-calls.ts'
import {folded, PROJECT_TAG, tagsOf, USER_TAG} from '../tracking/scope-tags.ts'
import {experimentOf, traceObjection} from '../tracking/scope-traces.ts'
import {requireMay, type Person} from './person.ts'
import type {Verb} from './roles.ts'

/** A call of MLflow's API by a user. */
interface UserCall {
  method: string
  path: string
  body(): Record<string, unknown>
}

const REGISTRY = /^(?:registered-models|model-versions)\//

/**
 * Which verbs of the table a call comes to, and on whose runs; a call that is not known is one for who may do anything in
 * the project. Gives the body that MLflow is to get instead, where that is another. Errors: 403, 404 for a run that the
 * project has not.
 */
export async function checkUserScope(
  person: Person,
  {method, path, body}: UserCall,
  lookup: Pick<Lookup, 'run' | 'model' | 'trace'>,
): Promise<Record<string, unknown> | undefined> {
  if (!isTrackingApi(method, path)) throw new Failure(403, 'REFUSED', `${method} ${path} is not open to users`)
  const call = apiCallOf(path)
  if (onlyReads(method, path)) {
    requireMay(person, 'run.read', 'others')
    return undefined
  }
  const artifact = artifactOf(path)
  if (artifact !== undefined) {
    const plain = plainArtifact(artifact) ?? ''
    const place = plain.startsWith('workspaces/') ? plain : `workspaces/${person.project}/${plain}`
    const owner = await ownerOfArtifact(place, lookup)
    await requireRuns(person, method === 'DELETE' ? 'run.delete' : 'run.write', [owner?.run], lookup)
    return undefined
  }
  if (call === undefined) throw new Failure(403, 'REFUSED', `${method} ${path} only reads`)
  const fields = requirePlainNames(body())
  if (call === 'runs/create') return createdRun(person, fields)
  if (call === 'experiments/create') return void requireMay(person, 'run.start', 'own')
  if (RUN_WRITES.has(call)) {
    const tags = tagsOf(call, fields)
    if (!tags) throw new Failure(403, 'REFUSED', 'tags must be a list')
    if (tags.some(({key}) => folded(key) === USER_TAG))
      throw new Failure(403, 'REFUSED', `the head alone writes ${USER_TAG}`)
    requireOwnProject(person, tags)
    await requireRuns(person, 'run.write', namedRuns(fields), lookup)
    await requireModels(person, namedModels(call, fields), lookup)
  } else if (call === 'runs/delete' || call === 'runs/restore')
    await requireRuns(person, 'run.delete', namedRuns(fields), lookup)
  else if (isRegistryWrite(method, call)) requireMay(person, 'model.write', 'own')
  else if (REGISTRY.test(call)) requireMay(person, 'model.delete', 'own')
  else if (call === 'logged-models') await requireRuns(person, 'run.write', [fields.source_run_id], lookup)
  else if (call.startsWith('logged-models/')) {
    const id = call.split('/')[1]!
    if (namesOther(fields, id)) throw new Failure(403, 'REFUSED', 'the call names two models')
    await requireRuns(person, 'run.write', [(await lookup.model(id))?.run], lookup)
  } else if (path === '/api/3.0/mlflow/traces') {
    requireMay(person, 'run.start', 'own')
    const objection = await traceObjection(fields, experimentOf(fields), (id) => lookup.trace(id))
    if (objection !== undefined) throw new Failure(403, 'REFUSED', objection)
  } else requireMay(person, 'run.delete', 'others')
  return undefined
}

/** Says who it is of, whatever the client says. */
function createdRun(person: Person, fields: Record<string, unknown>): Record<string, unknown> {
  requireMay(person, 'run.start', 'own')
  const given = Array.isArray(fields.tags) ? (fields.tags as RunTag[]) : []
  requireOwnProject(person, given)
  const tags = given.filter((tag) => folded(tag?.key) !== USER_TAG)
  return {...fields, user_id: person.user, tags: [...tags, {key: USER_TAG, value: person.user}]}
}

type RunTag = {key?: unknown; value?: unknown} | null

/** Lists would show it among the runs of another project. */
function requireOwnProject({project}: Person, tags: readonly RunTag[]): void {
  if (tags.some((tag) => folded(tag?.key) === PROJECT_TAG && tag?.value !== project))
    throw new Failure(403, 'REFUSED', `the tag ${PROJECT_TAG} of a run in project ${project} says so`)
}

/** What is measured of a model is kept with it: it is one of the project, whoever made it. */
async function requireModels(
  person: Person,
  models: readonly string[] | undefined,
  lookup: Pick<Lookup, 'model'>,
): Promise<void> {
  if (!models) throw new Failure(403, 'REFUSED', 'each metric and model is an object with plain names')
  for (const id of models)
    if (!(await lookup.model(id))) throw new Failure(404, 'NOT_FOUND', `project ${person.project} has no model ${id}`)
}

function requirePlainNames(fields: Record<string, unknown>): Record<string, unknown> {
  const objection = nameObjection(fields)
  if (objection !== undefined) throw new Failure(403, 'REFUSED', objection)
  return fields
}

/** Of every run that is named. One that is nobody's is another's, and so is none. */
async function requireRuns(
  person: Person,
  verb: Verb,
  runs: readonly unknown[],
  lookup: Pick<Lookup, 'run'>,
): Promise<void> {
  for (const id of runs.length > 0 ? runs : [undefined]) {
    const run = typeof id === 'string' && id !== '' ? await lookup.run(id) : undefined
    if (typeof id === 'string' && !run)
      throw new Failure(404, 'NOT_FOUND', `project ${person.project} has no run ${id}`)
    requireMay(person, verb, run?.user !== undefined && run.user === person.user ? 'own' : 'others')
  }
}
