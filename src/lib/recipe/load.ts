import {existsSync} from 'node:fs'
import {readFile, readdir} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {CliError, nearestName, userPaths} from '../base/index.ts'
import {problemsError, readSource, validateSource} from '../document/index.ts'
import type {RecipeFile} from './schema.ts'
import type {Recipe, RecipeFileContent} from './types.ts'

/**
 * The recipe of that name: the user's own (`<config>/runtimes/NAME`) before the ones that come with flexrack. Throws
 * NOT_FOUND, RECIPE_INVALID.
 */
export async function loadRecipe(name: string, env: NodeJS.ProcessEnv): Promise<Recipe> {
  const folders = recipeFolders(env)
  const folder = /^[A-Za-z0-9_-]+$/.test(name)
    ? folders.map((one) => join(one, name)).find((one) => existsSync(join(one, 'recipe.yaml')))
    : undefined
  if (folder) return readRecipe(name, folder)
  const names = await recipeNames(folders)
  const nearest = nearestName(name, names)
  throw new CliError('NOT_FOUND', `there is no runtime ${name}${nearest ? `; did you mean ${nearest}?` : ''}`, {
    hint: `there are: ${names.join(', ')}`,
    details: {runtimes: names},
  })
}

async function readRecipe(name: string, folder: string): Promise<Recipe> {
  const source = await readSource(join(folder, 'recipe.yaml'))
  const {recipeSchema} = await import('./schema.ts')
  const {value, problems} = validateSource(source, recipeSchema)
  if (!value) throw problemsError('RECIPE_INVALID', source.file, problems)
  return resolveRecipe(name, folder, value)
}

async function resolveRecipe(name: string, folder: string, file: RecipeFile): Promise<Recipe> {
  const contents = await Promise.all(
    Object.entries(file.files).map(async ([target, content]): Promise<[string, RecipeFileContent]> => {
      if ('copy' in content) return [target, {text: await readBeside(folder, content.copy), filled: false}]
      return [target, 'text' in content ? {text: content.text, filled: true} : content]
    }),
  )
  const {argv, env, restart} = file.start
  return {
    name,
    folder,
    title: file.title,
    suffix: file.model.suffix,
    protocol: file.protocol,
    ...(file.cpu_only && {cpuOnly: true}),
    ...(file.model.environment !== undefined && {modelEnvironment: file.model.environment}),
    python: {atLeast: file.python.at_least, below: file.python.below},
    requirements: await readBeside(folder, file.requirements),
    ports: file.ports,
    files: Object.fromEntries(contents),
    start: {argv, env, restart: {max: restart.max, windowSeconds: restart.window_seconds}},
    ready: file.ready,
    graceSeconds: file.stop.grace_seconds,
  }
}

async function readBeside(folder: string, name: string): Promise<string> {
  try {
    return await readFile(join(folder, name), 'utf8')
  } catch (error) {
    throw new CliError('RECIPE_INVALID', `recipe.yaml names ${name}, which is not beside it in ${folder}`, {
      cause: error,
    })
  }
}

function recipeFolders(env: NodeJS.ProcessEnv): string[] {
  return [join(userPaths(env).config, 'runtimes'), ownFolder(import.meta.dirname)]
}

/** Looks upwards from here: it is at the same place for src, dist and an installed package. */
function ownFolder(from: string): string {
  const folder = join(from, 'runtimes')
  if (existsSync(join(folder, 'onnx', 'recipe.yaml'))) return folder
  if (dirname(from) === from) throw new Error('runtimes/ is missing from this installation of flexrack')
  return ownFolder(dirname(from))
}

async function recipeNames(folders: string[]): Promise<string[]> {
  const entries = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder).catch(() => [])).filter((name) => existsSync(join(folder, name, 'recipe.yaml'))),
    ),
  )
  return [...new Set(entries.flat())].sort()
}
