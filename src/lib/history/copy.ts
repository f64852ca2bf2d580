import {mkdtemp, open, readdir, rename, rm} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {fetchPaths} from '../artifact/index.ts'
import {
  CliError,
  count,
  ensurePrivateFolder,
  hashFile,
  textIfThere,
  throwIfInterrupted,
  withProgress,
  type Context,
  type Progress,
} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Handlers, PlanOf} from '../plan/index.ts'

/**
 * A file of a restic repository whose name is the SHA-256 of its content ("Repository Format" in
 * restic's design document). What is needed by others comes first.
 */
const PLACES = ['keys', 'data', 'index', 'snapshots'] as const
const NAME = /^(keys|index|snapshots|data\/[0-9a-f]{2})\/([0-9a-f]{64})$/
const AT_ONCE = 200

type CopyInput = {
  node: string
  project: string
  /** The node's repository. */
  from: string
  /** SHA-256 of what says which repository it is. */
  config: string
  /** Absolute: a folder of this machine. */
  to: string
  /** Relative to the repository. */
  files: string[]
  bytes: number
  /** How many are here already. */
  there: number
}

/** A copy of a node's history on this machine. */
export interface CopiedHistory {
  node: string
  project: string
  folder: string
  /** What came, and how many files were here already. */
  files: number
  bytes: number
  there: number
}

export type CopyKinds = {'history.copy': {input: CopyInput; output: CopiedHistory}}

/**
 * Fetches what the node's repository has more than the copy. Nothing in the copy is replaced or
 * removed, and the node has no way to it: what a node forgets, damages or deletes stays here.
 * from-copy.ts restores from it, and so does restic: `restic -r FOLDER/repository -p FOLDER/key snapshots`.
 */
export const COPY = {
  plan: planCopy,
  handlers: {'history.copy': copy} satisfies Handlers<CopyKinds, {host: Host; context: Context}>,
}

/** Errors: NOT_FOUND where nothing was saved, CONFLICT where the folder has another repository. */
async function planCopy(host: Host, project: string, to: string, context: Context): Promise<PlanOf<CopyKinds>> {
  const folder = resolve(to)
  const found = await host.call('history.files', {project}, {signal: context.signal})
  const own = await hashFile(join(folder, 'repository/config')).catch(() => undefined)
  if (own !== undefined && own !== found.config) {
    throw new CliError('CONFLICT', `${folder} is a copy of another history than ${project} has on ${host.node} now`, {
      hint: 'name another folder: the one of before stays as it is',
    })
  }
  if (own === undefined && (await readdir(folder).catch(() => [])).length > 0) {
    throw new CliError('CONFLICT', `${folder} is not empty, and is no copy of a history`, {
      hint: 'name a folder that is not there yet',
    })
  }
  const here = new Set<string>()
  for (const place of PLACES) {
    const names = await readdir(join(folder, 'repository', place), {recursive: true}).catch(() => [])
    for (const name of names) here.add(`${place}/${name}`)
  }
  const named = found.files.filter(({path}) => NAME.test(path))
  const missing = named.filter(({path}) => !here.has(path)).sort((a, b) => order(a.path) - order(b.path))
  const bytes = missing.reduce((sum, one) => sum + one.bytes, 0)
  const input: CopyInput = {
    node: host.node,
    project,
    from: found.path,
    config: found.config,
    to: folder,
    files: missing.map(({path}) => path),
    bytes,
    there: named.length - missing.length,
  }
  return {
    command: 'workspace history',
    steps: [
      {
        id: `copy:${host.node}`,
        node: host.node,
        kind: 'history.copy',
        title: `Fetch ${count(missing.length, 'file')} (${(bytes / 1e6).toFixed(1)} MB) of the history of ${project} to ${folder}`,
        input,
        needs: [],
      },
    ],
  }
}

const order = (path: string): number => PLACES.findIndex((place) => path.startsWith(`${place}/`))

async function copy(
  {node, project, from, config, to, files, bytes, there}: CopyInput,
  _done: unknown,
  {host, context}: {host: Host; context: Context},
): Promise<CopiedHistory> {
  await ensurePrivateFolder(to)
  const draft = await mkdtemp(join(to, '.part-'))
  let done = 0
  const fetchAll = async (progress: Progress): Promise<CopiedHistory> => {
    // The last ones that count: a copy that was cut short has nothing that needs what is missing.
    for (let at = 0; at < files.length; at += AT_ONCE) {
      throwIfInterrupted(context.signal)
      const part = files.slice(at, at + AT_ONCE)
      const before = done
      const onBytes = (count: number): void => progress.amount(Math.min((done = before + count), bytes), bytes, 'bytes')
      await fetchPaths(host.shell, {folder: from, paths: part, target: draft}, {signal: context.signal, onBytes})
      for (const path of part) await keep(node, draft, to, path, NAME.exec(path)?.[2] as string)
    }
    if ((await textIfThere(join(to, 'repository/config'))) === undefined) {
      const key = await host.call('history.key', {project}, {signal: context.signal})
      await writeOnce(join(to, 'key'), key.key)
      await fetchPaths(host.shell, {folder: from, paths: ['config'], target: draft}, {signal: context.signal})
      await keep(node, draft, to, 'config', config)
    }
    return {node, project, folder: to, files: files.length, bytes, there}
  }
  try {
    return await withProgress(context.reporter, [`Fetch the history of ${project}`, node], fetchAll)
  } finally {
    await rm(draft, {recursive: true, force: true})
  }
}

/** Errors: CONFLICT for what is not what its name says. */
async function keep(node: string, draft: string, to: string, path: string, sha256: string): Promise<void> {
  if ((await hashFile(join(draft, path))) !== sha256) {
    throw new CliError('CONFLICT', `${path} of the history on ${node} is damaged, and was not taken`, {
      hint: 'what came before it is here, and whole',
      details: {node, path},
    })
  }
  const target = join(to, 'repository', path)
  await ensurePrivateFolder(dirname(target))
  await rename(join(draft, path), target)
}

async function writeOnce(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  await handle.writeFile(text)
  await handle.sync()
  await handle.close()
}
