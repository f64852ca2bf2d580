import {isCliError} from '../base/index.ts'
import type {Mlflow, ModelVersion} from '../tracking/index.ts'
import {parseReference} from './reference.ts'
import {requireModel, resolveVersion} from './resolve.ts'

export interface ModelSummary {
  name: string
  versions: number
  newest: string | undefined
  aliases: Record<string, string>
  /** Milliseconds since 1970. */
  updatedAt: number
}

/** Where a version comes from, as far as it was recorded. */
export interface Lineage {
  run: string
  runId: string
  status: string
  commit: string | undefined
  dirty: boolean | undefined
  command: string | undefined
  metrics: Record<string, number>
  params: Record<string, string>
}

export interface ModelDetails extends ModelSummary {
  list: (ModelVersion & {lineage?: Lineage})[]
}

/** Every registered model, by name. */
export async function listModels(mlflow: Mlflow): Promise<ModelSummary[]> {
  const models = await mlflow.searchModels()
  const versions = await Promise.all(models.map((model) => mlflow.listVersions(model.name)))
  return models
    .map((model, index) => ({
      name: model.name,
      versions: versions[index]?.length ?? 0,
      newest: versions[index]?.[0]?.version,
      aliases: model.aliases,
      updatedAt: model.updatedAt,
    }))
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** A model with its versions, newest first, or only the version a reference names; each with its lineage. */
export async function showModel(mlflow: Mlflow, text: string): Promise<ModelDetails> {
  const reference = parseReference(text)
  const one = reference.version !== undefined || reference.alias !== undefined
  const model = await requireModel(mlflow, reference.name)
  const versions = one
    ? [await resolveVersion(mlflow, reference)]
    : (await mlflow.listVersions(model.name)).slice(0, 20)
  const list = await Promise.all(
    versions.map(async (version) => {
      const aliases = Object.entries(model.aliases)
        .filter(([, target]) => target === version.version)
        .map(([alias]) => alias)
      const lineage = await lineageOf(mlflow, version)
      return {...version, aliases, ...(lineage && {lineage})}
    }),
  )
  return {
    name: model.name,
    versions: versions.length,
    newest: versions[0]?.version,
    aliases: model.aliases,
    updatedAt: model.updatedAt,
    list,
  }
}

async function lineageOf(mlflow: Mlflow, version: ModelVersion): Promise<Lineage | undefined> {
  if (!version.runId) return undefined
  try {
    const run = await mlflow.getRun(version.runId)
    const dirty = run.tags['flexrack.dirty']
    return {
      run: run.name,
      runId: run.id,
      status: run.status,
      commit: run.tags['mlflow.source.git.commit'],
      dirty: dirty === undefined ? undefined : dirty === 'true',
      command: run.tags['flexrack.command'],
      metrics: Object.fromEntries(Object.entries(run.metrics).map(([key, metric]) => [key, metric.value])),
      params: run.params,
    }
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return undefined // the run was deleted; the version outlives it
    throw error
  }
}
