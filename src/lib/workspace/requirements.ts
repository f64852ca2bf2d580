import {readFile} from 'node:fs/promises'
import {dirname, isAbsolute, posix, relative, resolve, sep} from 'node:path'
import {CliError, textIfThere} from '../base/index.ts'
import {LOCK_FILE, readLock} from './lock-file.ts'
import {namedProject, readPyproject, type NamedProject} from './pyproject.ts'
import {parseUvLock, UV_LOCK, type Required} from './uv-lock.ts'

/** A requirements file with everything it includes, as one text that means the same on a node. */
export interface Requirements {
  requirements: string
  constraints: string
  /** File and line of each line of `requirements`. */
  origins: string[]
  /** What whoever installs them should know. */
  warnings?: string[]
}

interface Line {
  text: string
  origin: string
}

/**
 * What the environments of a project, of a Python `version`, are made from: its lock file where it has one, else its
 * requirements. Beside a pyproject.toml that is uv.lock. Errors: those of readSources; CHECK_FAILED where the lock file
 * does not belong to the requirements any more, or names what lies on this machine alone.
 */
export async function readRequirements(
  folder: string,
  file: string | undefined,
  version?: string,
): Promise<Requirements> {
  const project = file === undefined ? undefined : namedProject(file)
  const locked = project && (await readUvLock(folder, project))
  if (locked) return locked
  const sources = await readSources(folder, file)
  const lock = file === undefined ? undefined : await readLock(folder, sources)
  if (!lock) return sources
  const stale = staleText(lock, file as string, version)
  if (stale !== undefined)
    throw new CliError('CHECK_FAILED', stale, {hint: 'flexrack lock', details: {file: LOCK_FILE}})
  const lines = lock.text
    .split('\n')
    .map((text, index) => ({text, origin: `${LOCK_FILE}:${index + 1}`}))
    .filter(({text}) => text.trim() !== '' && !text.startsWith('#'))
  return {requirements: textOf(lines), constraints: '', origins: lines.map((line) => line.origin)}
}

function staleText(
  {isCurrent, python}: {isCurrent: boolean; python: string},
  file: string,
  version: string | undefined,
): string | undefined {
  if (!isCurrent) return `${LOCK_FILE} does not belong to ${file} any more`
  const isOlder = version !== undefined && Number(version.split('.')[1]) < Number(python.split('.')[1])
  return isOlder
    ? `${LOCK_FILE} is for Python ${python} and newer, and workspace.python asks for ${version}`
    : undefined
}

/**
 * What is wrong with the lock file of a project, and what mends it; undefined where nothing is. Requirements that
 * cannot be read are told elsewhere.
 */
export async function staleLock(
  folder: string,
  file: string,
  version?: string,
): Promise<{message: string; fix: string} | undefined> {
  if (await isLockedByUv(folder, file)) {
    return readRequirements(folder, file).then(
      () => undefined,
      (error: CliError) => ({message: error.message, fix: error.hint ?? 'uv lock'}),
    )
  }
  const lock = await readSources(folder, file).then(
    (sources) => readLock(folder, sources),
    () => undefined,
  )
  const message = lock && staleText(lock, file, version)
  return message === undefined ? undefined : {message, fix: 'flexrack lock'}
}

/** Where the uv.lock of a project would be: beside its pyproject.toml. Relative to the project folder. */
const uvLockOf = ({file}: NamedProject): string => posix.join(posix.dirname(file), UV_LOCK)

async function uvLockText(folder: string, project: NamedProject): Promise<string | undefined> {
  return textIfThere(resolve(folder, uvLockOf(project)))
}

/** True where uv has locked the versions of what `workspace.python` names. */
export async function isLockedByUv(folder: string, file: string): Promise<boolean> {
  const project = namedProject(file)
  return project !== undefined && (await uvLockText(folder, project)) !== undefined
}

async function readUvLock(folder: string, project: NamedProject): Promise<Requirements | undefined> {
  const text = await uvLockText(folder, project)
  if (text === undefined) return undefined
  const {extras, groups, required} = readPyproject(await readText(folder, project.file, []), project)
  const lock = parseUvLock(text, uvLockOf(project))
  const changed = different(required, lock.required)
  if (changed !== undefined) {
    throw new CliError(
      'CHECK_FAILED',
      `${uvLockOf(project)} does not belong to ${project.file} any more: they differ in ${changed}`,
      {hint: 'uv lock', details: {file: uvLockOf(project), requirement: changed}},
    )
  }
  const {lines, warnings} = lock.export(extras, groups)
  return {requirements: textOf(lines), constraints: '', origins: lines.map((line) => line.origin), warnings}
}

/** The first name that both require in another way. */
function different(one: Required[], other: Required[]): string | undefined {
  const keys = (all: Required[]): Set<string> => new Set(all.map(({name, specifier}) => `${name} ${specifier}`))
  const [left, right] = [keys(one), keys(other)]
  return [...[...left].filter((key) => !right.has(key)), ...[...right].filter((key) => !left.has(key))][0]?.trim()
}

/**
 * Reads a requirements file of a project, or its pyproject.toml; -r and -c lines are replaced by what they name. `file`
 * undefined: none. Errors: NOT_FOUND for a file that is not there, CHECK_FAILED for what cannot mean the same on a
 * node: paths of this machine, files outside the project, files that include each other.
 */
export async function readSources(folder: string, file: string | undefined): Promise<Requirements> {
  const constraints: Line[] = []
  const project = file === undefined ? undefined : namedProject(file)
  const requirements = project
    ? readPyproject(await readText(folder, project.file, []), project).lines.map(checkPortable)
    : file === undefined
      ? []
      : await readLines(folder, file, [], constraints)
  return {
    requirements: textOf(requirements),
    constraints: textOf(constraints),
    origins: requirements.map((line) => line.origin),
  }
}

/** Whether requirements say which files they mean. */
export function hasHashes(requirements: string): boolean {
  return /\s--hash[=\s]/.test(requirements)
}

function textOf(lines: Line[]): string {
  return lines.map((line) => `${line.text}\n`).join('')
}

async function readLines(folder: string, file: string, above: string[], constraints: Line[]): Promise<Line[]> {
  const text = await readText(folder, file, above)
  const lines: Line[] = []
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = {text: raw.replace(/(^|\s+)#.*$/, '').trimEnd(), origin: `${file}:${index + 1}`}
    if (line.text.trim() === '') continue
    const include = /^\s*(-r|--requirement|-c|--constraint)(?:[\s=]+|(?<=-[rc]))(\S.*)$/.exec(line.text)
    if (!include) {
      lines.push(checkPortable(line))
      continue
    }
    const name = posix.join(posix.dirname(file), include[2] as string)
    if (/^[a-z]+:\/\//i.test(include[2] as string)) lines.push(line)
    else if ((include[1] as string).replace(/^-+/, '').startsWith('r'))
      lines.push(...(await readLines(folder, name, [...above, line.origin], constraints)))
    else constraints.push(...(await readLines(folder, name, [...above, line.origin], constraints)))
  }
  return lines
}

async function readText(folder: string, file: string, above: string[]): Promise<string> {
  const from = above.at(-1)
  const where = from ? ` (named in ${from})` : ''
  const path = relative(folder, resolve(folder, file))
  if (isAbsolute(path) || path === '..' || path.startsWith(`..${sep}`)) {
    throw new CliError('CHECK_FAILED', `${file}${where} is outside the project`, {
      hint: 'copy it into the project',
      details: {file, from},
    })
  }
  if (above.some((origin) => origin.startsWith(`${file}:`))) {
    throw new CliError('CHECK_FAILED', `${file}${where} includes itself`, {
      hint: `remove the line ${from}`,
      details: {file, from},
    })
  }
  try {
    return await readFile(resolve(folder, file), 'utf8')
  } catch (cause) {
    if ((cause as {code?: string}).code !== 'ENOENT')
      throw new CliError('CHECK_FAILED', `${file}${where} cannot be read`, {cause})
    throw new CliError('NOT_FOUND', `there is no ${file}${where} in ${folder}`, {
      hint: from
        ? `remove the line ${from}, or write ${resolve(dirname(resolve(folder, file)), file)}`
        : 'correct workspace.python in flexrack.yaml',
      details: {file, from},
      cause,
    })
  }
}

/** Environments are shared by content, so a line may not depend on what lies in a folder here. */
function checkPortable(line: Line): Line {
  const isEditable = /^\s*(-e|--editable)\b/.test(line.text)
  const isPath = /^\s*(\.{1,2}(\/|$|\[)|\/|~\/)/.test(line.text) || /^[^-]*(^|@\s*)file:/.test(line.text)
  const isLinks = /^\s*(-f|--find-links)[\s=]+(?![a-z]+:\/\/|\/)/i.test(line.text)
  if (!isEditable && !isPath && !isLinks) return line
  throw new CliError(
    'CHECK_FAILED',
    `${line.origin}: \`${line.text.trim()}\` names a folder of this machine, which an environment on a node cannot contain`,
    {
      hint: 'remove the line: what runs in a workspace runs in the code folder, and imports modules from there',
      details: {origin: line.origin, requirement: line.text.trim()},
    },
  )
}
