import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {CliError, isCliError} from '../base/index.ts'
import {loadRecipe, type Recipe} from '../recipe/index.ts'
import type {Mlflow, ModelVersion} from '../tracking/index.ts'
import {CUSTOM, recipeOfServer} from './custom.ts'
import type {Release} from './document.ts'
import type {ServerNeeds} from './needs.ts'

const MLMODEL = 'MLmodel'

/** How a release's servers are started. Errors: those of loadRecipe. */
export async function recipeOf(
  {runtime, custom, protocol}: Pick<Release, 'runtime' | 'custom' | 'protocol'>,
  env: NodeJS.ProcessEnv,
): Promise<Recipe> {
  return custom ? recipeOfServer(custom, protocol) : loadRecipe(runtime, env)
}

/** Errors: USAGE where its servers would lease GPUs that they never use. */
export async function requireOnGpus(
  endpoint: string,
  runtime: string,
  {gpus}: ServerNeeds,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (gpus === undefined || runtime === CUSTOM || !(await loadRecipe(runtime, env)).cpuOnly) return
  const message = `the runtime ${runtime} computes on CPUs alone: the GPUs of endpoint ${endpoint} would lie idle`
  const other = runtime === 'onnx' ? 'runtime: onnx-cuda' : 'the runtime custom, or a recipe of your own'
  throw new CliError('USAGE', message, {hint: `leave out its gpus; or ${other} (docs/runtimes.md)`})
}

/** What the name of a version's only file says. */
const BY_SUFFIX: [suffix: string, runtime: string][] = [
  ['.onnx', 'onnx'],
  ['.gguf', 'llamacpp'],
]
/** What a file in a version's own folder says, the first that is there. */
const BY_FILE: [file: RegExp, runtime: string][] = [
  [/^model-settings\.json$/, 'python'],
  [/^config\.pbtxt$/, 'triton'],
  [/^[^/]*\.gguf$/, 'llamacpp'],
  [/^[^/]*\.safetensors(\.index\.json)?$/, 'vllm'],
]

/**
 * The runtime for a model version where nobody names one: what its files say. A model in MLflow's format is served by
 * `mlflow`, unless it was logged as ONNX; what says nothing by `onnx`, which tells what it misses.
 */
export async function runtimeOf(mlflow: Mlflow, version: ModelVersion): Promise<string> {
  const uri = await mlflow.versionUri(version.name, version.version)
  const bySuffix = BY_SUFFIX.find(([suffix]) => uri.endsWith(suffix))
  if (bySuffix) return bySuffix[1]
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-model-'))
  try {
    const files = (await mlflow.listStored(uri)).filter((entry) => !entry.isFolder).map((entry) => entry.path)
    if (!files.includes(MLMODEL)) return runtimeOfFiles(files)
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

/** By the files on top of a version's own folder. Pure. */
export function runtimeOfFiles(files: string[]): string {
  return BY_FILE.find(([file]) => files.some((one) => file.test(one)))?.[1] ?? 'onnx'
}

/** Names of the flavours in the text of an MLmodel, which MLflow writes with two spaces a level. Pure. */
export function flavoursOf(text: string): string[] {
  const part = /^flavors:\n((?:[ \t].*\n?|\n)*)/m.exec(text)?.[1] ?? ''
  return [...part.matchAll(/^ {2}([A-Za-z_][\w-]*):/gm)].map(([, name]) => name ?? '')
}
