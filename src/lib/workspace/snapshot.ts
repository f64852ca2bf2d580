import type {Context} from '../base/index.ts'
import {rememberedBase} from './bases.ts'
import {digestFiles} from './digests.ts'
import {treeHash, type Entries} from './entry.ts'
import {scanProject} from './scan.ts'

/** A project as it is now: what every node is to look like. */
export interface Snapshot {
  /** Real path of the project. */
  folder: string
  entries: Entries
  tree: string
  /** Sizes of the files in bytes, by path. */
  sizes: Map<string, number>
  excludes(path: string): boolean
  /** Contents that a node may refer to, by tree: this one, and that of the last sync where it was another. */
  bases: ReadonlyMap<string, Entries>
}

/**
 * Looks through the project and reads what has changed since the last time. Errors: those of scanProject and
 * digestFiles.
 */
export async function takeSnapshot(folder: string, exclude: string[], context: Context): Promise<Snapshot> {
  const scan = await scanProject(folder, exclude, context)
  const digests = await digestFiles(scan.folder, scan.files, context)
  const entries: Entries = new Map()
  const sizes = new Map<string, number>()
  for (const [path, stats] of scan.files) {
    entries.set(path, {kind: 'f', digest: digests.get(path) as string, executable: (stats.mode & 0o100) !== 0})
    sizes.set(path, stats.size)
  }
  for (const [path, target] of scan.links) entries.set(path, {kind: 'l', digest: target, executable: false})
  for (const path of scan.emptyFolders) entries.set(path, {kind: 'd', digest: '', executable: false})
  const tree = treeHash(entries)
  const last = await rememberedBase(scan.folder, tree, context)
  const bases = new Map([[tree, entries], ...(last ? [[last.tree, last.entries] as const] : [])])
  return {folder: scan.folder, entries, tree, sizes, excludes: scan.excludes, bases}
}
