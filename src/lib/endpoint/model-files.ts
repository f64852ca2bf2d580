import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {basename, dirname, join} from 'node:path'
import {CliError, type Context} from '../base/index.ts'
import type {Recipe} from '../recipe/index.ts'
import type {ArtifactEntry, Mlflow, ModelVersion} from '../tracking/index.ts'
import type {ModelFile, ModelNeeds} from './document.ts'
import {readNeeds} from './model-needs.ts'

/** A model version on this machine, in a temporary folder. */
export interface FetchedModel {
  folder: string
  /** The one the server is given comes first. */
  files: ModelFile[]
  /** Where its recipe asks the model for its environment. */
  needs?: ModelNeeds
  remove(): Promise<void>
}

/**
 * Downloads the files of a version that the recipe needs, and checks them against the checksum kept with the version.
 * NOT_FOUND where there is no file for the recipe, or the file is gone; CONFLICT where it is another file by now.
 */
export async function fetchModel(
  mlflow: Mlflow,
  version: ModelVersion,
  recipe: Recipe,
  context: Context,
): Promise<FetchedModel> {
  const uri = await mlflow.versionUri(version.name, version.version)
  const {base, paths} = await findFiles(mlflow, uri, version, recipe)
  const total = paths.every((entry) => entry.size !== undefined)
    ? paths.reduce((sum, entry) => sum + (entry.size ?? 0), 0)
    : undefined
  const progress = context.reporter.begin(`Fetch model ${version.name}/${version.version}`)
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-model-'))
  const remove = (): Promise<void> => rm(folder, {recursive: true, force: true})
  try {
    const files: ModelFile[] = []
    for (const {path} of paths) {
      if (path.split('/').includes('..') || path.startsWith('/'))
        throw missing(version, `${path} is not a path inside it`)
      progress.amount(
        files.reduce((sum, file) => sum + file.bytes, 0),
        total,
        'bytes',
      )
      const {bytes, sha256} = await mlflow.downloadStored(base, path, join(folder, path))
      files.push({path, bytes, sha256})
    }
    const expected = version.tags['flexrack.sha256']
    const main = files[0]
    const registered = version.tags['flexrack.path']
    if (
      expected !== undefined &&
      main &&
      (registered === undefined || basename(registered) === basename(main.path)) &&
      main.sha256 !== expected
    ) {
      throw new CliError(
        'CONFLICT',
        `${main.path} of model ${version.name}/${version.version} is not the file that was registered`,
        {
          hint: `flexrack model register ${version.name} --run RUN`,
          details: {expected, found: main.sha256},
        },
      )
    }
    const needs =
      main && recipe.modelEnvironment
        ? await readNeeds(join(folder, dirname(main.path)), version, recipe.modelEnvironment)
        : undefined
    progress.done()
    return {folder, files, ...(needs && {needs}), remove}
  } catch (error) {
    progress.fail()
    await remove()
    throw error
  }
}

async function findFiles(
  mlflow: Mlflow,
  uri: string,
  version: ModelVersion,
  recipe: Recipe,
): Promise<{base: string; paths: ArtifactEntry[]}> {
  const slash = uri.lastIndexOf('/')
  const name = uri.slice(slash + 1)
  if (recipe.suffix === '' ? await isFile(mlflow, uri.slice(0, slash), name) : uri.endsWith(recipe.suffix)) {
    const beside = (await mlflow.listStored(uri.slice(0, slash))).filter((entry) => !entry.isFolder)
    const main = beside.find((entry) => entry.path === name)
    if (!main) throw missing(version, `${name} is no longer there`)
    return {base: uri.slice(0, slash), paths: [main, ...beside.filter((entry) => isWeightsOf(entry.path, name))]}
  }
  const all = await mlflow.walkStored(uri)
  const ending = all.filter((entry) => entry.path.endsWith(recipe.suffix))
  // The one on top is the model; below it lie others of its kind, such as adapters.
  const top = ending.filter((entry) => recipe.suffix !== '' && !entry.path.includes('/'))
  const fitting = top.length === 1 ? top : ending
  const main = fitting.find((entry) => entry.path === recipe.suffix) ?? fitting[0]
  if (!main) throw missing(version, `it has no *${recipe.suffix} file for the runtime ${recipe.name}`)
  if (recipe.suffix !== '' && fitting.length > 1 && main.path !== recipe.suffix)
    throw new CliError(
      'USAGE',
      `model ${version.name}/${version.version} has ${fitting.length} *${recipe.suffix} files`,
      {details: {files: fitting.map((entry) => entry.path)}},
    )
  // A model's own folder: all of it, as weights beside the graph may have any name (MLflow gives them a random one).
  return {base: uri, paths: [main, ...all.filter((entry) => entry !== main)]}
}

async function isFile(mlflow: Mlflow, folder: string, name: string): Promise<boolean> {
  return (await mlflow.listStored(folder)).some((entry) => entry.path === name && !entry.isFolder)
}

/** Weights that an exporter wrote beside the graph: model.onnx.data, model.onnx_data, model.data, model.weights. */
function isWeightsOf(name: string, main: string): boolean {
  const stem = main.replace(/\.[^.]+$/, '')
  return (
    name !== main &&
    (name.startsWith(`${main}.`) ||
      name.startsWith(`${main}_`) ||
      [`${stem}.data`, `${stem}.weights`, `${stem}.bin`].includes(name))
  )
}

function missing(version: ModelVersion, why: string): CliError {
  return new CliError('NOT_FOUND', `model ${version.name}/${version.version} cannot be served: ${why}`, {
    hint: `flexrack model show ${version.name}/${version.version}`,
    details: {source: version.source},
  })
}
