import type {Compared} from '../protocol/index.ts'
import {isSameEntry, type Entries, type Entry} from './entry.ts'
import type {Snapshot} from './snapshot.ts'

/** What has to happen to a node's code folder. */
export interface Delta {
  put: Map<string, Entry>
  remove: string[]
  /**
   * Files that sync put there once and that the patterns now leave out: they stay, and are the node's own from now on.
   */
  forget: string[]
  /** Contents that have to travel: digest to the file here that has it, and its size in bytes. */
  send: Map<string, {path: string; size: number}>
  /** Sum of the sizes. */
  bytes: number
  /** Edited on the node alone: they stay as they are there. */
  kept: string[]
  /** Edited on the node, and changed here, too. */
  conflicts: string[]
}

/**
 * Compares the project with what the node has, and with what was synced last; with `overwrite`, what was edited on the
 * node counts for nothing.
 */
export function computeDelta(
  snapshot: Snapshot,
  compared: Compared,
  {overwrite = false, there: known}: {overwrite?: boolean; there?: Entries} = {},
): Delta {
  const edited = new Map(
    overwrite
      ? []
      : compared.edited?.map(([path, kind, digest, executable]) => [path, {kind, digest, executable} as Entry]),
  )
  const there = new Map(known ?? (compared.base ? snapshot.bases.get(compared.base) : []))
  for (const [path, kind, digest, executable] of compared.inventory ?? [])
    there.set(path, {kind, digest, executable} as Entry)
  const staged = new Set(compared.staged)
  const delta: Delta = {put: new Map(), remove: [], forget: [], send: new Map(), bytes: 0, kept: [], conflicts: []}
  if (compared.same) return delta
  for (const [path, entry] of snapshot.entries) {
    const last = edited.get(path)
    if (last && !isSameContent(entry, there.get(path))) {
      ;(isSameContent(entry, last) ? delta.kept : delta.conflicts).push(path)
      continue
    }
    if (!last && isSameEntry(entry, there.get(path))) continue
    delta.put.set(path, entry)
    if (entry.kind !== 'f' || staged.has(entry.digest) || delta.send.has(entry.digest)) continue
    const size = snapshot.sizes.get(path) ?? 0
    delta.send.set(entry.digest, {path, size})
    delta.bytes += size
  }
  for (const [path, entry] of there) {
    if (snapshot.entries.has(path)) continue
    if ((entry.kind as string) !== '' && snapshot.excludes(path)) delta.forget.push(path)
    else if (edited.has(path)) delta.conflicts.push(path)
    else delta.remove.push(path)
  }
  return delta
}

const isSameContent = (one: Entry, other: Entry | undefined): boolean =>
  one.kind === other?.kind && one.digest === other.digest

/** `first time, 12 files, 3 KiB` or `3 files changed, 1 removed`; for people. */
export function describeDelta(delta: Delta, compared: Pick<Compared, 'same' | 'revision'>): string {
  if (compared.same) return 'nothing changed'
  const count = (number: number, what: string): string => `${number} file${number === 1 ? '' : 's'} ${what}`
  const parts = [
    ...(delta.put.size > 0 ? [count(delta.put.size, compared.revision === '' ? 'to send' : 'changed')] : []),
    ...(delta.remove.length > 0 ? [count(delta.remove.length, 'to remove')] : []),
    ...(delta.forget.length > 0 ? [count(delta.forget.length, 'left to the node')] : []),
  ]
  return parts.length === 0 ? 'nothing changed' : parts.join(', ')
}
