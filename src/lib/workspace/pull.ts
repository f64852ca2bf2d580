import {createHash} from 'node:crypto'
import {chmod, lstat, mkdir, mkdtemp, readFile, realpath, rename, rm} from 'node:fs/promises'
import {dirname, join, relative, sep} from 'node:path'
import {CliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Handlers, PlanOf} from '../plan/index.ts'
import type {WorkspaceChanges} from '../protocol/index.ts'
import {DIGEST_DIGITS} from './entry.ts'
import {Incoming} from './incoming.ts'
import {takeSnapshot, type Snapshot} from './snapshot.ts'

/** Larger files that only the node has are brought where they are named. Bytes. */
const LARGE = 64 << 20
/** Never taken from a node: git would run what stands there. */
const NEVER = new Set(['.git', '.flexrack'])

/** A file as the last sync, this machine and the node have it. */
export interface PulledFile {
  path: string
  /** Against the last sync. */
  there: 'edited' | 'new' | 'removed'
  here: 'unchanged' | 'edited' | 'absent' | 'same'
  /** bring: it comes; same: nothing to do; conflict: both sides changed; left: it is removed there, and stays here. */
  what: 'bring' | 'same' | 'conflict' | 'left'
  /** Bytes, where the node told. */
  size: number | null
  executable: boolean
  /** Of the content here when this was planned; null: none. */
  digest: string | null
}

type PullInput = {
  node: string
  project: string
  folder: string
  overwrite: boolean
  /** A folder that is not there yet: the project stays as it is, and what both sides have changed comes, too. */
  to: string | null
  files: PulledFile[]
  skipped: Skipped[]
}

/** What only the node has, and does not come unless it is named. */
export interface Skipped {
  path: string
  why: 'excluded' | 'large' | 'many'
  /** Files of a folder. */
  files?: number
  size?: number
}

export interface Pulled {
  node: string
  project: string
  files: PulledFile[]
  skipped: Skipped[]
}

export type PullKinds = {'workspace.pull': {input: PullInput; output: Pulled}}

export interface PullEnv {
  host(node: string): Host
  context: Context
}

/** What would come from a node, and what became of it. */
export const PULL = {plan: planPull, handlers: {'workspace.pull': pull} satisfies Handlers<PullKinds, PullEnv>}

/**
 * Compares three sides: what was synced last, the project here, the node. Changes nothing. `paths`: only these files
 * and folders of the project, and of them also what the patterns exclude. Errors: NOT_FOUND (no workspace, or nothing
 * there of that name), USAGE (a path outside the project).
 */
async function planPull(
  host: Host,
  manifest: Manifest,
  {paths, overwrite, to}: {paths: string[]; overwrite: boolean; to?: string | undefined},
  context: Context,
): Promise<PlanOf<PullKinds>> {
  const [snapshot, changes] = await Promise.all([
    takeSnapshot(manifest.folder, manifest.workspace.exclude, context),
    host.call('sync.changes', {project: manifest.name, paths}, {signal: context.signal}),
  ])
  const {files, skipped} = await threeWays(snapshot, changes, paths)
  const unknown = paths.find(
    (path) =>
      !files.some((one) => isBelow(one.path, path)) &&
      !snapshot.entries.has(path) &&
      ![...snapshot.entries.keys()].some((one) => isBelow(one, path)),
  )
  if (unknown !== undefined)
    throw new CliError('NOT_FOUND', `${host.node} has no ${unknown} in ${changes.path}`, {
      hint: `flexrack workspace pull --on ${host.node} --dry-run`,
    })
  if (to !== undefined && (await lstat(to).catch(() => undefined)))
    throw new CliError('CONFLICT', `${to} is there already`, {hint: '--to NEW_FOLDER'})
  const coming = comingOf(files, overwrite || to !== undefined)
  const input: PullInput = {
    ...{node: host.node, project: manifest.name, folder: snapshot.folder, overwrite},
    ...{to: to ?? null, files, skipped},
  }
  const count = (number: number): string => (number === 1 ? '1 file' : `${number} files`)
  return {
    command: 'workspace pull',
    steps:
      coming.length === 0 && !files.some(({what}) => what === 'conflict')
        ? []
        : [
            {
              id: `pull:${host.node}`,
              node: host.node,
              kind: 'workspace.pull',
              title: `Bring ${count(coming.length)}${to === undefined ? '' : ` to ${to}`}: ${coming.map(({path}) => path).join(', ') || 'none'}`,
              input,
              needs: [],
            },
          ],
  }
}

const comingOf = (files: PulledFile[], both: boolean): PulledFile[] =>
  files.filter(({what}) => what === 'bring' || (both && what === 'conflict'))

/** Path by path. Pure but for reading files here that are not the project's. */
async function threeWays(
  snapshot: Snapshot,
  changes: WorkspaceChanges,
  paths: string[],
): Promise<{files: PulledFile[]; skipped: Skipped[]}> {
  const files: PulledFile[] = []
  const skipped: Skipped[] = []
  const isNamed = (path: string): boolean => paths.some((one) => isBelow(path, one))
  const isMeant = (path: string): boolean => isSafe(path) && (paths.length === 0 || isNamed(path))
  for (const [path, kind, digest, executable, last] of changes.edited) {
    if (!isMeant(path) || (kind !== '' && kind !== 'f')) continue
    const here = snapshot.entries.get(path)
    const state =
      here === undefined ? 'absent' : here.digest === digest ? 'same' : here.digest === last ? 'unchanged' : 'edited'
    const what = kind === '' ? 'left' : state === 'same' ? 'same' : state === 'unchanged' ? 'bring' : 'conflict'
    files.push({
      path,
      there: kind === '' ? 'removed' : 'edited',
      here: state,
      what,
      size: null,
      executable,
      digest: here?.digest ?? null,
    })
  }
  for (const [path, size, executable] of changes.own) {
    if (!isMeant(path)) continue
    const why = snapshot.excludes(path) ? 'excluded' : size > LARGE ? 'large' : undefined
    if (why !== undefined && !isNamed(path)) {
      skipped.push({path, why, size})
      continue
    }
    const digest = await digestHere(join(snapshot.folder, path))
    files.push({
      path,
      there: 'new',
      here: digest === null ? 'absent' : 'edited',
      what: digest === null ? 'bring' : 'conflict',
      size,
      executable,
      digest,
    })
  }
  for (const [path, count] of changes.many)
    if (paths.length === 0 && isSafe(path)) skipped.push({path: `${path}/`, why: 'many', files: count})
  return {files: files.sort((a, b) => (a.path < b.path ? -1 : 1)), skipped}
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** A node is not believed: a path that leads elsewhere, or to what git or flexrack execute, is none. */
function isSafe(path: string): boolean {
  const parts = path.split('/')
  return (
    !path.includes('\0') &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && !NEVER.has(part.toLowerCase()))
  )
}

/** null: nothing is there. A folder or a link has one that no content has. */
async function digestHere(path: string): Promise<string | null> {
  const info = await lstat(path).catch(() => undefined)
  if (!info) return null
  if (!info.isFile()) return 'not a file'
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
    .slice(0, DIGEST_DIGITS)
}

/** Errors: CONFLICT where both sides changed a file, unless `overwrite`; what does not conflict has come then. */
async function pull(
  {node, project, folder: own, overwrite, to, skipped, ...input}: PullInput,
  _done: unknown,
  {host, context}: PullEnv,
): Promise<Pulled> {
  const files = input.files.map((one) => ({...one}))
  const coming = comingOf(files, overwrite || to !== null)
  const folder = to ?? own
  if (to !== null) await mkdir(to, {mode: 0o700})
  const aside = await mkdtemp(join(folder, '.flexrack-pull-'))
  try {
    const paths = coming.map(({path}) => path)
    const incoming = new Incoming(aside, paths)
    const {files: sent} = await host(node).call(
      'sync.contents',
      {project, paths},
      {signal: context.signal, onEvent: (event) => incoming.take(event)},
    )
    for (const [index, file] of coming.entries()) {
      const digest = incoming.digest(file.path)
      if (sent[file.path] !== digest)
        throw new CliError('CONFLICT', `${file.path} was written on ${node} while it was read`, {
          hint: 'run the command again',
        })
      const same = file.what === 'conflict' && file.digest === digest
      if (same) file.what = 'same'
      else await place(folder, to === null ? file : {...file, digest: null}, join(aside, String(index)))
    }
  } catch (error) {
    if (to !== null) await rm(to, {recursive: true, force: true})
    throw error
  } finally {
    await rm(aside, {recursive: true, force: true})
  }
  const conflicts = overwrite || to !== null ? [] : await really(files, host(node), project, context)
  if (conflicts.length > 0)
    throw conflict(
      node,
      conflicts.map(({path}) => path),
    )
  return {node, project, files, skipped}
}

/** New files that both sides have may be the same: the node had not read its own. */
async function really(files: PulledFile[], host: Host, project: string, context: Context): Promise<PulledFile[]> {
  const found = files.filter(({what}) => what === 'conflict')
  const unsure = found.filter(({there}) => there === 'new').map(({path}) => path)
  if (unsure.length === 0) return found
  const {files: sent} = await host.call('sync.contents', {project, paths: unsure}, {signal: context.signal})
  for (const one of found)
    if (one.there === 'new' && sent[one.path] === one.digest) Object.assign(one, {what: 'same', here: 'same'})
  return found.filter(({what}) => what === 'conflict')
}

function conflict(node: string, paths: string[]): CliError {
  const [first] = paths
  const more = paths.length > 1 ? ` (and ${paths.length - 1} more)` : ''
  return new CliError('CONFLICT', `${first}${more} was changed here and on ${node}`, {
    hint: `flexrack workspace pull --on ${node} --to FOLDER ${first}    brings that of ${node} beside, to compare\nflexrack workspace pull --on ${node} --overwrite ${first}    takes that of ${node}\nflexrack workspace sync --on ${node} --overwrite    takes those here`,
    details: {node, paths},
  })
}

/**
 * Moves what has come to its place, in one step; never through a link that leads out, nor over what has changed since
 * the plan.
 */
async function place(folder: string, {path, digest, executable}: PulledFile, from: string): Promise<void> {
  const target = join(folder, path)
  if (await leadsOut(folder, dirname(path)))
    throw new CliError('CONFLICT', `${path} would be written outside the project: a folder on the way is a link`, {
      hint: `mv ${path} away`,
    })
  await mkdir(dirname(target), {recursive: true})
  if ((await digestHere(target)) !== digest)
    throw new CliError('CONFLICT', `${path} changed after this was planned`, {hint: 'run the command again'})
  await chmod(from, executable ? 0o755 : 0o644)
  await rename(from, target)
}

/**
 * Whether what is there of a path below the folder leads elsewhere. Looked at before the rest is made: what is made
 * behind a link that leads out would be made out there.
 */
async function leadsOut(folder: string, path: string): Promise<boolean> {
  const real = await realpath(folder)
  let there = join(folder, path)
  while (!(await lstat(there).catch(() => undefined))) there = dirname(there)
  const end = await realpath(there).catch(() => undefined) // a link to nothing would be followed, too
  const inside = end === undefined ? '..' : relative(real, end)
  return inside === '..' || inside.startsWith(`..${sep}`)
}
