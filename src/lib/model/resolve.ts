import {CliError, isCliError, nearestName} from '../base/index.ts'
import type {Mlflow, ModelVersion, RegisteredModel} from '../tracking/index.ts'
import {parseReference, type ModelReference} from './reference.ts'

/** The version a reference means; NOT_FOUND names what there is and the nearest name. */
export async function resolveVersion(mlflow: Mlflow, reference: ModelReference | string): Promise<ModelVersion> {
  const {name, version, alias} = typeof reference === 'string' ? parseReference(reference) : reference
  const model = await requireModel(mlflow, name)
  if (alias !== undefined) {
    const aliased = model.aliases[alias]
    if (aliased === undefined) throw noAlias(model, alias)
    return withAliases(await mlflow.getVersion(name, aliased), model)
  }
  if (version !== undefined) {
    try {
      return withAliases(await mlflow.getVersion(name, version), model)
    } catch (error) {
      if (!isCliError(error, 'NOT_FOUND')) throw error
      const versions = (await mlflow.listVersions(name)).map((one) => one.version)
      throw new CliError('NOT_FOUND', `model ${name} has no version ${version}`, {
        hint: `flexrack model show ${name}`,
        details: {versions},
        cause: error,
      })
    }
  }
  const newest = (await mlflow.listVersions(name))[0]
  if (!newest)
    throw new CliError('NOT_FOUND', `model ${name} has no versions yet`, {
      hint: `flexrack model register ${name} --run RUN`,
    })
  return withAliases(newest, model)
}

/** The registered model of that name; NOT_FOUND suggests the nearest. */
export async function requireModel(mlflow: Mlflow, name: string): Promise<RegisteredModel> {
  try {
    return await mlflow.getModel(name)
  } catch (error) {
    if (!isCliError(error, 'NOT_FOUND')) throw error
    const names = (await mlflow.searchModels()).map((model) => model.name)
    const nearest = nearestName(name, names)
    throw new CliError('NOT_FOUND', `there is no model ${name}${nearest ? `; did you mean ${nearest}?` : ''}`, {
      hint: names.length > 0 ? 'flexrack model list' : `flexrack model register ${name} --run RUN`,
      details: {models: names},
      cause: error,
    })
  }
}

function noAlias(model: RegisteredModel, alias: string): CliError {
  const aliases = Object.keys(model.aliases)
  const nearest = nearestName(alias, aliases)
  return new CliError(
    'NOT_FOUND',
    `model ${model.name} has no alias ${alias}${nearest ? `; did you mean ${model.name}@${nearest}?` : ''}`,
    {
      hint: `flexrack model promote ${model.name}/VERSION ${alias}`,
      details: {aliases},
    },
  )
}

/** Old servers do not repeat the aliases in a version. */
function withAliases(version: ModelVersion, model: RegisteredModel): ModelVersion {
  const own = Object.entries(model.aliases)
    .filter(([, target]) => target === version.version)
    .map(([alias]) => alias)
  return {...version, aliases: own.sort()}
}
