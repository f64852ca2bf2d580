import {lstat, mkdir, realpath, writeFile} from 'node:fs/promises'
import {basename, dirname, join, resolve} from 'node:path'
import {CliError, type Context} from '../base/index.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type PlanOf, type StepOf} from '../plan/index.ts'
import {findTemplate, renderTemplate} from './templates.ts'

export interface ScaffoldInput {
  /** Where the project is to be; made if it is not there. */
  folder: string
  template: string
  /** Name of the project; made from the folder's by default. */
  name?: string
  /** Write over files that are there. */
  force?: boolean
}

export interface Scaffolded {
  folder: string
  name: string
  template: string
  /** Relative to the folder. */
  files: string[]
}

/** `over`: also where a file has come into being since it was planned. */
type FileInput = {folder: string; path: string; text: string; over: boolean}

type ScaffoldKinds = {'file.write': {input: FileInput; output: string}}

/** The output: the path, relative to the folder. */
export const SCAFFOLD_HANDLERS: Handlers<ScaffoldKinds, null> = {
  'file.write': async ({folder, path, text, over}) => {
    await mkdir(dirname(join(folder, path)), {recursive: true})
    await writeFile(join(folder, path), text, {flag: over ? 'w' : 'wx'})
    return path
  },
}

/**
 * What `init` would write, with the texts. Throws USAGE for a bad name or template, CONFLICT for what is already there.
 */
export async function planScaffold(input: ScaffoldInput): Promise<PlanOf<ScaffoldKinds>> {
  const folder = resolve(input.folder)
  const over = input.force ?? false
  const name = input.name ?? projectName(folder)
  checkName(name)
  const template = await findTemplate(input.template)
  const files = await renderTemplate(template, name)
  await refuseLinks(
    folder,
    files.map((file) => file.path),
  )
  if (!over)
    await refuseExisting(
      folder,
      files.map((file) => file.path),
    )
  const steps = files.map(({path, text}): StepOf<ScaffoldKinds> => ({
    id: `write:${path}`,
    node: null,
    kind: 'file.write',
    title: `Write ${join(folder, path)}`,
    input: {folder, path, text, over},
    needs: [],
  }))
  return {command: `init ${folder}`, steps}
}

/** Writes a new project. Throws as planScaffold. */
export async function scaffold(input: ScaffoldInput, context: Pick<Context, 'signal'>): Promise<Scaffolded> {
  const folder = resolve(input.folder)
  const outcomes = await executePlan(await planScaffold(input), SCAFFOLD_HANDLERS, null, context)
  throwIfFailed(outcomes)
  return {
    folder,
    name: input.name ?? projectName(folder),
    template: input.template,
    files: valuesOf<ScaffoldKinds, 'file.write'>(outcomes, 'file.write'),
  }
}

/** A valid project name out of a folder's. */
export function projectName(folder: string): string {
  const name = basename(resolve(folder))
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 40)
    .replace(/[._-]+$/, '')
  return name === '' ? 'project' : name
}

function checkName(name: string): void {
  if (/^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?$/.test(name)) return
  throw new CliError(
    'USAGE',
    `"${name}" cannot be the name of a project: 1 to 40 lower-case letters, digits, dots, dashes or underscores`,
    {hint: `--name ${projectName(name)}`},
  )
}

async function refuseExisting(folder: string, paths: string[]): Promise<void> {
  const there = (
    await Promise.all(paths.map(async (path) => ((await kindOf(join(folder, path))) ? [path] : [])))
  ).flat()
  if (there.length === 0) return
  throw new CliError('CONFLICT', `${folder} already has ${there.join(', ')}`, {
    hint: 'choose another folder, or pass --force to write over these files',
    details: {existing: there.length},
  })
}

/** Neither the folder nor what is on the way to a file may be something else, nor a link that leads out of it. */
async function refuseLinks(folder: string, paths: string[]): Promise<void> {
  const kind = await kindOf(folder)
  if (kind === 'file') throw new CliError('CONFLICT', `${folder} is a file`, {hint: 'choose another folder'})
  if (!kind) return
  const root = await realpath(folder)
  for (const path of paths) {
    const at = join(root, path)
    if ((await kindOf(at)) === 'folder')
      throw new CliError('CONFLICT', `${at} is a folder, but a file is to be written there`, {
        hint: 'choose another folder',
      })
    for (let part = dirname(at); part.length > root.length; part = dirname(part)) {
      if ((await kindOf(part)) && (await realpath(part)) !== part)
        throw new CliError('CONFLICT', `${part} is a link that leads elsewhere`, {hint: 'choose another folder'})
    }
    if ((await kindOf(at)) === 'link')
      throw new CliError('CONFLICT', `${at} is a link`, {hint: 'choose another folder'})
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'link' | undefined> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (!found) return undefined
  return found.isSymbolicLink() ? 'link' : found.isDirectory() ? 'folder' : 'file'
}
