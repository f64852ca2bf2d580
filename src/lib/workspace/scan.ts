import {lstatSync, readdirSync, readlinkSync, realpathSync, type Dirent, type Stats} from 'node:fs'
import {basename, dirname, isAbsolute, join, posix, relative, resolve, sep} from 'node:path'
import {setImmediate} from 'node:timers/promises'
import {CliError, throwIfInterrupted, type Context} from '../base/index.ts'
import {openRules, type Rules} from './rules.ts'

/** What a look at the project's folder finds, before any content is read. */
export interface Scan {
  /** Real path of the project. */
  folder: string
  files: Map<string, Stats>
  /** Path to target, always relative. */
  links: Map<string, string>
  /** Folders in which nothing of the project is. */
  emptyFolders: string[]
  /** Whether a path would be left out by the patterns, wherever it is (on a node). */
  excludes(path: string): boolean
}

/**
 * Folders are looked at without leaving the thread, as that is several times quicker; this often others get their turn.
 */
const FOLDERS_PER_TURN = 100

/**
 * Looks through the project: patterns of .gitignore files and `exclude` hold, links are kept, sockets and the like are
 * left out with a warning. Errors: CHECK_FAILED for links that point outside, and for names that are not UTF-8, all of
 * them in details.
 */
export async function scanProject(folder: string, exclude: string[], context: Context): Promise<Scan> {
  const root = realpathSync(folder)
  const top = listFolder(root, '')
  const rules = await openRules(root, exclude, hasIgnoreFile(top))
  const scan: Scan = {
    folder: root,
    files: new Map(),
    links: new Map(),
    emptyFolders: [],
    excludes: (path) => isExcluded(root, rules, path),
  }
  const refused: {path: string; why: string}[] = []
  const pending: {base: string; list: Dirent[]; rules: Rules}[] = [{base: '', list: top, rules}]
  for (let turn = 1; pending.length > 0; turn++) {
    if (turn % FOLDERS_PER_TURN === 0) {
      await setImmediate()
      throwIfInterrupted(context.signal)
    }
    const at = pending.pop() as (typeof pending)[number]
    let kept = 0
    for (const item of at.list) {
      const path = at.base + item.name
      if (at.rules.excludes(item.name, item.isDirectory())) continue
      kept++
      if (item.name.includes('\uFFFD')) refused.push({path, why: 'its name is not UTF-8'})
      else if (item.isDirectory()) {
        const list = listFolder(root, path)
        pending.push({base: `${path}/`, list, rules: at.rules.enter(item.name, hasIgnoreFile(list))})
      } else if (item.isSymbolicLink()) {
        const target = innerTarget(root, path)
        if (target.inside) scan.links.set(path, target.text)
        else refused.push({path, why: `it points outside the project, to ${target.text}`})
      } else if (item.isFile()) scan.files.set(path, lstatSync(join(root, path)))
      else context.reporter.warn(`${path} is neither a file nor a folder nor a link, and stays here`)
    }
    if (kept === 0 && at.base !== '') scan.emptyFolders.push(at.base.slice(0, -1))
  }
  if (refused.length > 0) throw refusal(refused)
  return scan
}

function listFolder(root: string, path: string): Dirent[] {
  try {
    return readdirSync(join(root, path), {withFileTypes: true})
  } catch (error) {
    throw unreadable(path || root, error)
  }
}

/** A file or folder of the project cannot be read. */
export function unreadable(path: string, cause: unknown): CliError {
  return new CliError('CHECK_FAILED', `${path} cannot be read: ${(cause as {code?: string}).code ?? String(cause)}`, {
    hint: `make it readable, or exclude it in flexrack.yaml: workspace.sync.exclude: [${JSON.stringify(path)}]`,
    details: {path},
    cause,
  })
}

function hasIgnoreFile(list: Dirent[]): boolean {
  return list.some((item) => item.name === '.gitignore' && item.isFile())
}

/** A link's target as it will be on the node, where the project is somewhere else; and whether it stays inside. */
function innerTarget(root: string, path: string): {inside: boolean; text: string} {
  const text = readlinkSync(join(root, path))
  const from = join(root, dirname(path))
  const absolute = resolve(from, text)
  // By text, and by where it really leads: a folder on the way may itself be a link.
  if (!isInside(root, absolute) || !isInside(root, realTarget(isAbsolute(text) ? text : `${from}/${text}`)))
    return {inside: false, text}
  return {
    inside: true,
    text: isAbsolute(text)
      ? posix.relative(posix.dirname(path), toPosix(relative(root, absolute))) || '.'
      : toPosix(text),
  }
}

/**
 * Real path of the deepest part that exists, with the rest behind it. The native call: Node's own takes out `..` by
 * text first.
 */
function realTarget(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    // harmless: it leads nowhere
    if ((error as {code?: string}).code === 'ELOOP') return path.slice(0, path.lastIndexOf('/'))
    const parent = dirname(path)
    return parent === path ? path : resolve(realTarget(parent), basename(path))
  }
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root + sep)
}

function toPosix(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}

function isExcluded(root: string, rules: Rules, path: string): boolean {
  const parts = path.split('/')
  let at = rules
  for (const [index, name] of parts.entries()) {
    const isLast = index === parts.length - 1
    if (at.excludes(name, !isLast)) return true
    if (isLast) return at.excludes(name, true) // on the node it may be a folder
    const file = join(root, ...parts.slice(0, index + 1), '.gitignore')
    at = at.enter(name, lstatSync(file, {throwIfNoEntry: false})?.isFile() ?? false)
  }
  return false
}

function refusal(refused: {path: string; why: string}[]): CliError {
  const first = refused[0] as (typeof refused)[number]
  const more = refused.length > 1 ? ` (and ${refused.length - 1} more)` : ''
  return new CliError('CHECK_FAILED', `${first.path} cannot be brought to a node: ${first.why}${more}`, {
    hint: `exclude it in flexrack.yaml, for instance: workspace.sync.exclude: [${JSON.stringify(`/${first.path}`)}]`,
    details: {refused},
  })
}
