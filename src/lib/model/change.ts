import {CliError} from '../base/index.ts'
import type {PlanOf} from '../plan/index.ts'
import type {Mlflow} from '../tracking/index.ts'
import {checkAlias, parseReference} from './reference.ts'
import {requireModel, resolveVersion} from './resolve.ts'
import {carryOut, type ModelEnv, type ModelKinds} from './steps.ts'

export interface Promotion {
  name: string
  version: string
  alias: string
  /** The version the alias pointed to before; undo with it. */
  previous: string | undefined
}

/** What promoting would do; nothing is changed. */
export async function findPromotion(mlflow: Mlflow, model: string, alias: string): Promise<Promotion> {
  checkAlias(alias)
  const version = await resolveVersion(mlflow, model)
  const previous = (await requireModel(mlflow, version.name)).aliases[alias]
  return {name: version.name, version: version.version, alias, previous}
}

/** Points the alias to the version. */
export async function promote(promotion: Promotion, env: ModelEnv): Promise<Promotion> {
  await carryOut(promotionPlan(promotion), env)
  return promotion
}

/** What promoting does; no steps where the alias points there already. Pure. */
export function promotionPlan({name, version, alias, previous}: Promotion): PlanOf<ModelKinds> {
  if (previous === version) return {command: 'model promote', steps: []}
  const title = `Point ${name}@${alias} to version ${version}${previous ? ` (now version ${previous})` : ''}`
  return {
    command: 'model promote',
    steps: [{id: 'alias', node: null, kind: 'model.alias', title, input: {name, alias, version}, needs: []}],
  }
}

export interface Removal {
  name: string
  /** One version, or undefined: the model with all its versions. */
  version: string | undefined
  versions: string[]
  aliases: string[]
}

/**
 * What a removal would take away. `name@alias` is refused: it is not clear whether the alias or the version is meant.
 */
export async function findRemoval(mlflow: Mlflow, text: string): Promise<Removal> {
  const reference = parseReference(text)
  if (reference.alias !== undefined)
    throw new CliError('USAGE', `${text} names an alias`, {hint: `flexrack model remove ${reference.name}/VERSION`})
  const model = await requireModel(mlflow, reference.name)
  const aliases = Object.entries(model.aliases)
  if (reference.version !== undefined) {
    const {version} = await resolveVersion(mlflow, reference)
    return {
      name: model.name,
      version,
      versions: [version],
      aliases: aliases.filter(([, target]) => target === version).map(([alias]) => alias),
    }
  }
  return {
    name: model.name,
    version: undefined,
    versions: (await mlflow.listVersions(model.name)).map((one) => one.version),
    aliases: aliases.map(([alias]) => alias),
  }
}

/** Takes it away. Files of runs stay; only the registry's entries go. */
export async function remove(removal: Removal, env: ModelEnv): Promise<Removal> {
  await carryOut(removalPlan(removal), env)
  return removal
}

/** What a removal does. Pure. */
export function removalPlan({name, version, versions, aliases}: Removal): PlanOf<ModelKinds> {
  const what =
    version === undefined
      ? `model ${name} with ${versions.length === 1 ? '1 version' : `${versions.length} versions`}`
      : `version ${version} of model ${name}`
  const also = aliases.length > 0 ? ` and the alias${aliases.length > 1 ? 'es' : ''} ${aliases.join(', ')}` : ''
  return {
    command: 'model remove',
    steps: [
      {
        id: 'remove',
        node: null,
        kind: 'model.remove',
        title: `Remove ${what}${also}`,
        input: {name, version: version ?? null, versions, aliases},
        needs: [],
      },
    ],
  }
}
