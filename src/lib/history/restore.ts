import {mkdir, mkdtemp, readdir, rename, rm, rmdir} from 'node:fs/promises'
import {basename, dirname, join, posix, resolve} from 'node:path'
import {fetchPaths} from '../artifact/index.ts'
import {CliError, withProgress, type Context, type Progress} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Handlers, PlanOf} from '../plan/index.ts'
import type {RestoredFile} from '../protocol/index.ts'
import type {Moment} from './moment.ts'
import {time} from './show.ts'

export interface RestoreWish extends Moment {
  run?: string
  /** File or folder of the project. */
  path?: string
  /** Over what the workspace has. */
  inPlace: boolean
  /** In place: also remove what was not there then. */
  remove: boolean
  /** A folder of this machine. */
  to?: string
}

type RestoreInput = {
  node: string
  project: string
  /** Id of the snapshot. */
  snapshot: string
  at: string
  path: string | null
  inPlace: boolean
  remove: boolean
  /** Absolute, of this machine. */
  to: string | null
  /** In place: what was found to change. */
  files: RestoredFile[]
}

export interface Restored {
  node: string
  project: string
  snapshot: string
  /** When it was saved. */
  at: string
  /** Where it is; null: in the workspace itself. */
  folder: string | null
  /** Whether that is a folder of this machine. */
  here: boolean
  /** What changed in the workspace. */
  files: RestoredFile[]
  /** The snapshot of what was in the workspace before. */
  before: string | null
  count: number
  bytes: number
  /** What the repository does not have any more, or not as it was. */
  lost: string[]
  /** Links that were left out here, as they lead out of the folder. */
  refused: string[]
}

export type RestoreKinds = {'history.restore': {input: RestoreInput; output: Restored}}

export interface RestoreEnv {
  host: Host
  context: Context
}

/** Brings a snapshot back. */
export const RESTORE = {
  plan: planRestore,
  handlers: {'history.restore': restore} satisfies Handlers<RestoreKinds, RestoreEnv>,
}

/** Looks at what it would do. Errors: NOT_FOUND, CONFLICT where something is in the way, USAGE. */
async function planRestore(
  host: Host,
  project: string,
  {inPlace, remove, to, path, ...moment}: RestoreWish,
  context: Context,
): Promise<PlanOf<RestoreKinds>> {
  const target = to === undefined ? null : resolve(to)
  if (target !== null) await refuseFull(target)
  const found = await host.call(
    'history.restore',
    {project, ...moment, ...(path !== undefined && {path}), in_place: inPlace, remove, dry_run: true},
    {signal: context.signal},
  )
  const at = time(found.at)
  const what = path === undefined ? 'all' : path
  const size = `${found.count === 1 ? '1 file' : `${found.count} files`}, ${(found.bytes / 1e6).toFixed(1)} MB`
  const input: RestoreInput = {
    node: host.node,
    project,
    snapshot: found.snapshot,
    at,
    path: path ?? null,
    inPlace,
    remove,
    to: target,
    files: found.files,
  }
  const title = inPlace
    ? `Save the workspace, then change ${what === 'all' ? 'it' : what} back to ${at} (${size})`
    : `Restore ${what} of ${at} (${size}) into ${target ?? 'a new folder'}`
  return {
    command: 'workspace restore',
    steps:
      inPlace && found.files.length === 0
        ? []
        : [{id: `restore:${host.node}`, node: host.node, kind: 'history.restore', title, input, needs: []}],
  }
}

async function restore(
  {node, project, snapshot, at, path, inPlace, remove, to}: RestoreInput,
  _done: unknown,
  {host, context}: RestoreEnv,
): Promise<Restored> {
  return withProgress(context.reporter, [`Restore ${path ?? 'all'} of ${at}`, node], async (progress) => {
    const found = await host.call(
      'history.restore',
      {project, snapshot, ...(path !== null && {path}), in_place: inPlace, remove},
      {signal: context.signal},
    )
    const {folder, files, before, count, bytes, lost} = found
    const answer: Restored = {
      node,
      project,
      snapshot,
      at,
      folder,
      here: false,
      files,
      before,
      count,
      bytes,
      lost,
      refused: [],
    }
    if (to === null || folder === null) return answer
    return {
      ...answer,
      folder: to,
      here: true,
      refused: await bring(host, project, folder, to, bytes, progress, context),
    }
  })
}

/** From the node's folder, which is removed then, to one of this machine: whole or not at all. */
async function bring(
  host: Host,
  project: string,
  from: string,
  to: string,
  total: number,
  progress: Progress,
  context: Context,
): Promise<string[]> {
  await mkdir(dirname(to), {recursive: true})
  const draft = await mkdtemp(join(dirname(to), `.${basename(to)}-`))
  const name = posix.basename(from)
  try {
    const {refused} = await fetchPaths(
      host.shell,
      {folder: posix.dirname(from), paths: [name], target: draft},
      {
        signal: context.signal,
        onBytes: (done) => progress.amount(Math.min(done, total), total, 'bytes'),
      },
    )
    await refuseFull(to)
    await rmdir(to).catch(() => {})
    await rename(join(draft, name), to)
    return refused.map((one) => one.slice(name.length + 1))
  } finally {
    await rm(draft, {recursive: true, force: true})
    await host.call('history.discard', {project, folder: from}, {signal: context.kill}).catch(() => {
      // It is in a folder of its own there, and harms nobody.
    })
  }
}

/** Nothing of this machine is written over. */
export async function refuseFull(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new CliError('CONFLICT', `${folder} is there, and is no folder`, {
      hint: 'name a folder that is not there yet',
    })
  })
  if (names.length > 0) {
    throw new CliError('CONFLICT', `${folder} is not empty, and a restore writes over nothing`, {
      hint: 'name a folder that is not there yet',
    })
  }
}
