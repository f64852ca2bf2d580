import {createHash} from 'node:crypto'
import type {Context} from '../base/index.ts'
import {
  executePlan,
  throwIfFailed,
  type FromStep,
  type Handlers,
  type Outputs,
  type PlanOf,
  type StepOutcome,
} from '../plan/index.ts'
import type {Mlflow, ModelVersion} from '../tracking/index.ts'

/** A file or folder of a run that becomes a version; `bytes` is null where the server does not say it. */
export type VersionInput = {
  name: string
  run: {id: string; name: string}
  path: string
  source: string
  bytes: number | null
  /** All files below the path are the version. */
  folder?: true
}

export type ModelKinds = {
  /** The version's tags have the checksum of its file; of a folder there is none. */
  'model.version': {input: VersionInput; output: ModelVersion}
  /** The output: the version that the alias pointed to before; null where there was no such alias. */
  'model.alias': {input: {name: string; alias: string; version: string | FromStep}; output: string | null}
  /** `version` null: the model with all its versions, which `versions` names. */
  'model.remove': {input: {name: string; version: string | null; versions: string[]; aliases: string[]}; output: void}
}

export interface ModelEnv {
  mlflow: Mlflow
  context: Context
}

export const MODEL_HANDLERS: Handlers<ModelKinds, ModelEnv> = {
  'model.version': makeVersion,
  'model.alias': pointAlias,
  'model.remove': remove,
}

/** Carries out the plan of a registration, promotion or removal. Errors: those of the registry, as throwIfFailed. */
export async function carryOut(plan: PlanOf<ModelKinds>, env: ModelEnv): Promise<StepOutcome[]> {
  const outcomes = await executePlan(plan, MODEL_HANDLERS, env, env.context)
  throwIfFailed(outcomes)
  return outcomes
}

async function makeVersion(
  {name, run, path, source, bytes, folder}: VersionInput,
  _done: unknown,
  env: ModelEnv,
): Promise<ModelVersion> {
  // Of a folder there is no one checksum: that its files are whole is checked when they travel to a node.
  const sha256 = folder ? undefined : await checksum(run.id, path, bytes ?? undefined, env)
  const record = (await env.mlflow.getRun(run.id)).tags['flexrack.record']
  await env.mlflow.ensureModel(name)
  const tags = {
    'flexrack.run': run.name,
    'flexrack.path': path,
    ...(sha256 !== undefined && {'flexrack.sha256': sha256}),
    ...(record !== undefined && {'flexrack.record': record}),
  }
  return env.mlflow.createVersion({name, source, runId: run.id, tags})
}

async function checksum(
  run: string,
  path: string,
  total: number | undefined,
  {mlflow, context}: ModelEnv,
): Promise<string> {
  const progress = context.reporter.begin(`Check ${path}`)
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for await (const chunk of await mlflow.openArtifact(run, path)) {
      hash.update(chunk as Buffer)
      bytes += (chunk as Buffer).length
      progress.amount(bytes, total, 'bytes')
    }
    progress.done(`${path} is there`)
    return hash.digest('hex')
  } catch (error) {
    progress.fail()
    throw error
  }
}

async function pointAlias(
  {name, alias, version}: ModelKinds['model.alias']['input'],
  done: Outputs<ModelKinds>,
  {mlflow}: ModelEnv,
): Promise<string | null> {
  const to = typeof version === 'string' ? version : (done.at(version) as string)
  const previous = (await mlflow.getModel(name)).aliases[alias] ?? null
  if (previous !== to) await mlflow.setAlias(name, alias, to)
  return previous
}

/** Files of runs stay; only the registry's entries go. */
async function remove(
  {name, version, aliases}: ModelKinds['model.remove']['input'],
  _done: unknown,
  {mlflow}: ModelEnv,
): Promise<void> {
  if (version === null) return mlflow.deleteModel(name)
  for (const alias of aliases) await mlflow.deleteAlias(name, alias)
  await mlflow.deleteVersion(name, version)
}
