import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {isCliError} from '../base/index.ts'
import {loadRecipe, type Recipe} from '../recipe/index.ts'
import type {Mlflow, ModelVersion} from '../tracking/index.ts'
import {recipeOfServer} from './custom.ts'
import type {Release} from './document.ts'

const MLMODEL = 'MLmodel'

/** How a release's servers are started. Errors: those of loadRecipe. */
export async function recipeOf(
  {runtime, custom, protocol}: Pick<Release, 'runtime' | 'custom' | 'protocol'>,
  env: NodeJS.ProcessEnv,
): Promise<Recipe> {
  return custom ? recipeOfServer(custom, protocol) : loadRecipe(runtime, env)
}

/**
 * The runtime for a model version where nobody names one: a model in MLflow's format is served by `mlflow`, unless it
 * was logged as ONNX; everything else by `onnx`, which says what it misses.
 */
export async function runtimeOf(mlflow: Mlflow, version: ModelVersion): Promise<string> {
  const uri = await mlflow.versionUri(version.name, version.version)
  if (uri.endsWith('.onnx')) return 'onnx'
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-model-'))
  try {
    if (!(await mlflow.listStored(uri)).some((entry) => !entry.isFolder && entry.path === MLMODEL)) return 'onnx'
    await mlflow.downloadStored(uri, MLMODEL, join(folder, MLMODEL))
    const flavours = flavoursOf(await readFile(join(folder, MLMODEL), 'utf8'))
    // what MLflow's server loads is that flavour
    return flavours.includes('python_function') && !flavours.includes('onnx') ? 'mlflow' : 'onnx'
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return 'onnx'
    throw error
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

/** Names of the flavours in the text of an MLmodel, which MLflow writes with two spaces a level. Pure. */
export function flavoursOf(text: string): string[] {
  const part = /^flavors:\n((?:[ \t].*\n?|\n)*)/m.exec(text)?.[1] ?? ''
  return [...part.matchAll(/^ {2}([A-Za-z_][\w-]*):/gm)].map(([, name]) => name ?? '')
}
