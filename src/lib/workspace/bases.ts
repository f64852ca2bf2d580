import {hash} from 'node:crypto'
import {mkdir, readdir, readFile, rename, rm, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {isCurrent, stamped, userPaths, type Context} from '../base/index.ts'
import type {EntryKind} from '../protocol/index.ts'
import type {Entries} from './entry.ts'

type Row = [path: string, kind: EntryKind, digest: string, executable: boolean]

/**
 * What a project looked like when it was last synced: a node that still has that need only tell where it differs.
 * Undefined where it is what the project is now (`tree`), or nothing is remembered.
 */
export async function rememberedBase(
  folder: string,
  tree: string,
  context: Context,
): Promise<{tree: string; entries: Entries} | undefined> {
  const kept = baseFolder(folder, context)
  const names: string[] = await readdir(kept).catch(() => [])
  const name = names.find((one) => /^[0-9a-f]+\.json$/.test(one))
  if (name === undefined || names.includes(`${tree}.json`)) return undefined
  try {
    const base = JSON.parse(await readFile(join(kept, name), 'utf8')) as {rows: Row[]}
    if (!isCurrent('project.base', base)) return undefined
    return {
      tree: name.slice(0, -'.json'.length),
      entries: new Map(base.rows.map(([path, kind, digest, executable]) => [path, {kind, digest, executable}])),
    }
  } catch {
    return undefined // gone, or cut short: the node tells everything
  }
}

/** What is being written: the syncs of all nodes, which begin at once, remember the same, and one writes it for all. */
const writing = new Map<string, Promise<void>>()

/** Remembers what is being synced, in place of what was before. That it cannot be written is no reason to fail. */
export async function rememberBase(folder: string, tree: string, entries: Entries, context: Context): Promise<void> {
  const kept = baseFolder(folder, context)
  const file = join(kept, `${tree}.json`)
  const written = writing.get(file) ?? writeBase(kept, file, tree, entries).finally(() => writing.delete(file))
  writing.set(file, written)
  await written
}

async function writeBase(kept: string, file: string, tree: string, entries: Entries): Promise<void> {
  try {
    if (await stat(file).catch(() => undefined)) return
    await mkdir(kept, {recursive: true, mode: 0o700})
    const rows: Row[] = [...entries].map(([path, {kind, digest, executable}]) => [path, kind, digest, executable])
    const beside = join(kept, `.${tree}.${process.pid}`)
    await writeFile(beside, JSON.stringify(stamped('project.base', {rows})), {mode: 0o600})
    await rename(beside, file)
    for (const name of await readdir(kept))
      if (name !== `${tree}.json` && name !== `.${tree}.${process.pid}`) await rm(join(kept, name), {force: true})
  } catch {
    // the next sync asks for everything
  }
}

function baseFolder(folder: string, context: Context): string {
  return join(userPaths(context.env).cache, 'bases', hash('sha256', folder).slice(0, 16))
}
