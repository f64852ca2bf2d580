import {lstat, mkdir, mkdtemp, readdir, readlink, rename, rm, rmdir} from 'node:fs/promises'
import {basename, dirname, join, relative, resolve} from 'node:path'
import {CliError, sizeText, textIfThere, withProgress, type Context} from '../base/index.ts'
import type {Handlers, PlanOf} from '../plan/index.ts'
import {literally, LocalRestic} from './local-restic.ts'
import type {Moment} from './moment.ts'
import {refuseFull} from './restore.ts'

/** What is in a copy of a history, oldest first. */
export interface CopyContent {
  /** Folder of the copy on this machine. */
  copy: string
  snapshots: SnapshotOfCopy[]
}

export interface SnapshotOfCopy {
  id: string
  /** ISO 8601. */
  at: string
  /** autosave, asked, run or before-restore. */
  kind: string
}

type FromCopyInput = {
  copy: string
  snapshot: string
  at: string
  path: string | null
  /** Absolute. */
  to: string
}

/** What came out of a copy, without any node. */
export interface RestoredFromCopy {
  copy: string
  snapshot: string
  at: string
  folder: string
  files: number
  bytes: number
  /** Links that were left out, as they lead out of the folder. */
  refused: string[]
}

export type FromCopyKinds = {'history.from_copy': {input: FromCopyInput; output: RestoredFromCopy}}

const KINDS = ['run', 'asked', 'before-restore']

/** Restores out of a copy on this machine, where the node is gone, or is not to be asked. */
export const FROM_COPY = {
  plan: planFromCopy,
  handlers: {'history.from_copy': fromCopy} satisfies Handlers<FromCopyKinds, {context: Context}>,
}

/** Errors: NOT_FOUND where the folder is no copy, LOCAL_FAILED without restic, CONFLICT where it is damaged. */
export async function listCopy(folder: string, context: Context): Promise<CopyContent> {
  const copy = await checkedCopy(folder)
  return {copy, snapshots: await snapshotsOf(await LocalRestic.open(copy, context))}
}

/** Errors: as listCopy; NOT_FOUND where no snapshot is of that time, or has the path; CONFLICT where `to` is in use. */
async function planFromCopy(
  folder: string,
  {path, to, ...moment}: Moment & {path?: string; to: string},
  context: Context,
): Promise<PlanOf<FromCopyKinds>> {
  const [copy, target] = [await checkedCopy(folder), resolve(to)]
  await refuseFull(target)
  const restic = await LocalRestic.open(copy, context)
  const {id, at} = await choose(restic, copy, moment, path)
  return {
    command: 'workspace restore',
    steps: [
      {
        id: 'restore:here',
        node: null,
        kind: 'history.from_copy',
        title: `Restore ${path ?? 'all'} of ${at} from ${copy} into ${target}`,
        input: {copy, snapshot: id, at, path: path ?? null, to: target},
        needs: [],
      },
    ],
  }
}

async function checkedCopy(folder: string): Promise<string> {
  const copy = resolve(folder)
  const [config, key] = await Promise.all([
    textIfThere(join(copy, 'repository/config')),
    textIfThere(join(copy, 'key')),
  ])
  if (config === undefined || key === undefined) {
    throw new CliError('NOT_FOUND', `${copy} is no copy of a history`, {
      hint: 'name the folder that was given to: flexrack workspace history --copy FOLDER',
    })
  }
  return copy
}

async function snapshotsOf(restic: LocalRestic): Promise<SnapshotOfCopy[]> {
  const found = JSON.parse(await restic.ask(['snapshots', '--json'])) as {id: string; time: string; tags?: string[]}[]
  return found
    .map(({id, time, tags}) => ({
      id,
      at: new Date(time).toISOString(),
      kind: tags?.find((tag) => KINDS.includes(tag)) ?? 'autosave',
    }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
}

/** The snapshot that is meant: where no moment is named, the last one; of a path the last that has it. */
async function choose(
  restic: LocalRestic,
  copy: string,
  {at, snapshot}: Moment,
  path: string | undefined,
): Promise<SnapshotOfCopy> {
  const all = await snapshotsOf(restic)
  const having = path === undefined ? undefined : await snapshotsWith(restic, path)
  const named = all.filter(
    (one) =>
      (snapshot === undefined || one.id.startsWith(snapshot)) && (at === undefined || Date.parse(one.at) <= at * 1000),
  )
  const free = at === undefined && snapshot === undefined
  const last = (free && having ? named.filter(({id}) => having.has(id)) : named).at(-1)
  const hint = `flexrack workspace history --from ${copy}`
  if (last === undefined || (having && !having.has(last.id))) {
    const what = last === undefined && !(free && having) ? 'such a snapshot' : path
    throw new CliError('NOT_FOUND', `the copy does not have ${what}`, {hint})
  }
  if (snapshot !== undefined && named.length > 1) {
    throw new CliError('USAGE', `${snapshot} begins the ids of ${named.length} snapshots`, {hint})
  }
  return last
}

async function snapshotsWith(restic: LocalRestic, path: string): Promise<Set<string>> {
  const text = await restic.ask(['find', '--json', literally(path)])
  const found = JSON.parse(text || '[]') as {snapshot: string; matches?: {path: string}[]}[] | null
  const having = (found ?? []).filter(({matches}) => matches?.some((one) => one.path === `/${path}`))
  return new Set(having.map(({snapshot}) => snapshot))
}

async function fromCopy(
  {copy, snapshot, at, path, to}: FromCopyInput,
  _done: unknown,
  {context}: {context: Context},
): Promise<RestoredFromCopy> {
  const restic = await LocalRestic.open(copy, context)
  await mkdir(dirname(to), {recursive: true})
  // Beside it: whole or not at all.
  const draft = await mkdtemp(join(dirname(to), `.${basename(to)}-`))
  try {
    return await withProgress(context.reporter, [`Restore ${path ?? 'all'} of ${at}`], async (progress) => {
      const only = path === null ? [] : ['--include', literally(path)]
      await restic.ask(['restore', snapshot, '--target', draft, ...only])
      const {files, bytes, refused} = await look(draft)
      progress.detail(`${files} files, ${sizeText(bytes)}`)
      await refuseFull(to)
      await rmdir(to).catch(() => {})
      await rename(draft, to)
      return {copy, snapshot, at, folder: to, files, bytes, refused}
    })
  } finally {
    await rm(draft, {recursive: true, force: true})
  }
}

/** Counts what came, and takes away links that lead out: whoever wrote the snapshot was the node. */
async function look(folder: string): Promise<{files: number; bytes: number; refused: string[]}> {
  const refused: string[] = []
  let [files, bytes] = [0, 0]
  for (const entry of await readdir(folder, {recursive: true, withFileTypes: true})) {
    const at = join(entry.parentPath, entry.name)
    if (entry.isSymbolicLink()) {
      const target = resolve(dirname(at), await readlink(at))
      if (target !== folder && !target.startsWith(`${folder}/`)) {
        await rm(at)
        refused.push(relative(folder, at))
      }
    } else if (entry.isFile()) {
      files++
      bytes += (await lstat(at)).size
    }
  }
  return {files, bytes, refused}
}
