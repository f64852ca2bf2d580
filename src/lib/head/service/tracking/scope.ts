import {Failure} from '../failure.ts'
import type {OwnRun} from './own-run.ts'
import {ownerOfArtifact, plainArtifact} from './artifact-paths.ts'
import {isTrackingApi} from './open-calls.ts'
import {
  apiCallOf,
  artifactOf,
  namedModels,
  namedRuns,
  namesOther,
  nameObjection,
  onlyReads,
  RUN_WRITES,
} from './scope-calls.ts'
import {checkRegistryWrite, isRegistryWrite, type RegistryLookup} from './scope-registry.ts'
import {isIdentity, isParent, PARENT_TAG, tagsOf} from './scope-tags.ts'
import {traceObjection} from './scope-traces.ts'
import type {Caller} from '../tokens/token-kinds.ts'

type RunCaller = Extract<Caller, {kind: 'run'}>

/** What the policy looks up in MLflow itself; undefined where there is no such thing. */
export interface Lookup extends RegistryLookup, OwnRun {
  /** Of a run: mlflow.parentRunId, the artifact folder, and, where it is known, who started it and its experiment. */
  run(
    id: string,
  ): Promise<
    {parent: string | undefined; artifacts: string; user?: string | undefined; experiment?: string} | undefined
  >
  /** The run a logged model came from, its artifact folder, and its experiment. */
  model(id: string): Promise<{run: string | undefined; artifacts: string; experiment?: string | undefined} | undefined>
  /** The experiment of a trace. Throws where MLflow does not say. */
  trace(id: string): Promise<string | undefined>
}

/**
 * What becomes of a run's call that is open to it: it goes on to MLflow as it came, with another body, or is answered
 * by us.
 */
export type Verdict = {body?: Record<string, unknown>; answer?: object}

/** A call of a run. */
export interface RunCall {
  method: string
  path: string
  query: URLSearchParams
  body(): Record<string, unknown>
  /** The rank that asks has no run of its own yet: OWN_RUN_HEADER. */
  hasNoRun: boolean
}

/**
 * What a run's token opens. It reads everything (a run may start from another's checkpoint), and writes only to its
 * run, to runs nested in it, to models logged in these, to traces of its experiment, and to registered models of its
 * project, where it deletes nothing but aliases and tags. Whether a run is nested is read from MLflow: its parent can
 * be set only by who may write to it already. Programs that were written for a server of their own go on working: the
 * experiment that they name is the run's own, the first run that a rank asks for is the run itself, and any other is
 * nested in it (docs/adr/0028). Throws 403 with the reason.
 */
export async function checkRunScope(
  caller: RunCaller,
  {method, path, query, body, hasNoRun}: RunCall,
  lookup: Lookup,
): Promise<Verdict> {
  if (!isTrackingApi(method, path)) throw refusal(caller, `${method} ${path} is not open to a run`)
  const artifact = artifactOf(path)
  const call = apiCallOf(path) ?? ''
  if (method === 'GET' && call === 'experiments/get-by-name')
    return {answer: await lookup.experiment(caller, query.get('experiment_name') ?? '')}
  if (onlyReads(method, path)) return {}
  if (artifact !== undefined) return pass(await requireOwnArtifact(caller, artifact, lookup))
  const fields = (): Record<string, unknown> => requirePlainNames(caller, body())
  if (isRegistryWrite(method, call)) return {body: await checkRegistryWrite(caller, call, fields(), lookup)}
  if (call === 'experiments/create') return {answer: await createdExperiment(caller, fields(), lookup)}
  if (call === 'runs/create') return createRun(caller, fields(), hasNoRun, lookup)
  if (call === 'runs/delete') return pass(await requireNestedRun(caller, fields(), lookup))
  if (RUN_WRITES.has(call)) return pass(await requireRunWrite(caller, call, fields(), lookup))
  if (path === '/api/3.0/mlflow/traces') return pass(await requireOwnTrace(caller, fields(), lookup))
  if (call === 'logged-models') return createModel(caller, fields(), lookup)
  const model = /^logged-models\/(m-[^/]+)(\/.*)?$/.exec(call)?.[1]
  if (model) return pass(await requireModelWrite(caller, model, fields(), lookup))
  throw refusal(caller, `${method} ${call} is not open to a run`)
}

/** It goes on as it came, as nothing was thrown. */
const pass = (_checked: void): Verdict => ({})

const DEEPEST_NESTING = 16

function requirePlainNames<T extends object>(caller: RunCaller, value: T): T {
  const objection = nameObjection(value)
  if (objection !== undefined) throw refusal(caller, objection)
  return value
}

/** Every run that the call names must be its own. */
async function requireNamedRuns(caller: RunCaller, body: Record<string, unknown>, lookup: Lookup): Promise<void> {
  const named = namedRuns(body)
  if (named.length === 0) throw refusal(caller, 'the call names no run')
  for (const run of named) await requireOwnRun(caller, textOf(run), lookup)
}

async function requireRunWrite(
  caller: RunCaller,
  call: string,
  body: Record<string, unknown>,
  lookup: Lookup,
): Promise<void> {
  await requireNamedRuns(caller, body, lookup)
  await requireModels(caller, call, body, lookup)
  const tags = tagsOf(call, body)
  if (!tags) throw refusal(caller, 'tags must be a list')
  for (const {key, value} of tags) {
    if (isIdentity(key))
      throw refusal(caller, `the tag ${String(key)} says which run it is, and is set by who starts it`)
    // else it would show among runs that are not its own
    if (isParent(key)) await requireOwnRun(caller, textOf(value), lookup)
  }
}

/** What is measured of a model is kept with it: it is one of the caller's project. */
async function requireModels(
  caller: RunCaller,
  call: string,
  body: Record<string, unknown>,
  lookup: Lookup,
): Promise<void> {
  const models = namedModels(call, body)
  if (!models) throw refusal(caller, 'each metric and model is an object with plain names')
  for (const id of models)
    if ((await lookup.model(id))?.experiment !== caller.experimentId) throw refusal(caller, `model ${id} is another's`)
}

async function requireOwnRun(caller: RunCaller, runId: string | undefined, lookup: Lookup): Promise<void> {
  let at = runId
  for (let depth = 0; at !== undefined && depth < DEEPEST_NESTING; depth++) {
    if (at === caller.runId) return
    at = (await lookup.run(at))?.parent
  }
  throw refusal(caller, runId ? `run ${runId} is another` : 'the call names no run')
}

/**
 * A run whose parent is not told is the caller's own where the rank has none yet, else nested in it. All of them are in
 * its experiment.
 */
async function createRun(
  caller: RunCaller,
  body: Record<string, unknown>,
  hasNoRun: boolean,
  lookup: Lookup,
): Promise<Verdict> {
  const tags = body.tags ?? []
  if (!Array.isArray(tags)) throw refusal(caller, 'tags must be a list')
  const parents = tags.filter((tag: {key?: unknown} | null) => isParent(tag?.key)) as {value?: unknown}[]
  if (parents.length > 1) throw refusal(caller, 'a run has one parent')
  if (parents.length === 0 && hasNoRun) return {answer: await lookup.adopt(caller, body)}
  if (parents.length > 0) await requireOwnRun(caller, textOf(parents[0]?.value), lookup)
  // a program may copy those of its run
  const own = tags.filter((tag: {key?: unknown} | null) => !isIdentity(tag?.key)) as unknown[]
  const nested = parents.length > 0 ? own : [...own, {key: PARENT_TAG, value: caller.runId}]
  return {body: {...body, tags: nested, experiment_id: caller.experimentId}}
}

async function createdExperiment(caller: RunCaller, {name}: Record<string, unknown>, lookup: Lookup): Promise<object> {
  if (typeof name !== 'string' || name === '') throw refusal(caller, 'the call names no experiment')
  await lookup.experiment(caller, name)
  return {experiment_id: caller.experimentId}
}

/** A run that it has made, not itself. */
async function requireNestedRun(caller: RunCaller, body: Record<string, unknown>, lookup: Lookup): Promise<void> {
  await requireNamedRuns(caller, body, lookup)
  if ([body.run_id, body.run_uuid].includes(caller.runId))
    throw refusal(caller, 'a run does not delete itself: flexrack runs remove')
}

/** A trace belongs to an experiment; whose run it came from is only a note in it. */
async function requireOwnTrace(caller: RunCaller, body: Record<string, unknown>, lookup: Lookup): Promise<void> {
  const objection = await traceObjection(body, caller.experimentId, (id) => lookup.trace(id))
  if (objection !== undefined) throw refusal(caller, objection)
}

/** A model is made in the caller's experiment, whichever is named. */
async function createModel(caller: RunCaller, body: Record<string, unknown>, lookup: Lookup): Promise<Verdict> {
  await requireOwnRun(caller, textOf(body.source_run_id), lookup)
  return {body: {...body, experiment_id: caller.experimentId}}
}

/** MLflow goes by the path in some of these calls, and by the body in others. */
async function requireModelWrite(
  caller: RunCaller,
  id: string,
  body: Record<string, unknown>,
  lookup: Lookup,
): Promise<void> {
  await requireOwnModel(caller, id, lookup)
  if (namesOther(body, id)) throw refusal(caller, 'the call names two models')
}

async function requireOwnModel(caller: RunCaller, id: string, lookup: Lookup): Promise<void> {
  await requireOwnRun(caller, (await lookup.model(id))?.run, lookup)
}

async function requireOwnArtifact(caller: RunCaller, written: string, lookup: Lookup): Promise<void> {
  const path = plainArtifact(written)
  if (path === undefined) throw refusal(caller, `${written} is no plain path`)
  const traces = `${caller.project === undefined ? '' : `workspaces/${caller.project}/`}${caller.experimentId}/traces/`
  if (path.startsWith(traces) && /^tr-[0-9a-f]+\/artifacts\/[^/]+$/.test(path.slice(traces.length))) return
  const owner = await ownerOfArtifact(path, lookup)
  if (!owner) throw refusal(caller, `${path} is not in the artifacts of its run`)
  await requireOwnRun(caller, owner.run, lookup)
}

function refusal(caller: RunCaller, reason: string): Failure {
  return new Failure(403, 'REFUSED', `this token belongs to run ${caller.runId}: ${reason}`)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
