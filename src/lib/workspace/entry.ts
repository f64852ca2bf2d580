import {createHash} from 'node:crypto'
import type {EntryKind} from '../protocol/index.ts'

/** One thing of a project, as far as a node has to look the same. */
export interface Entry {
  kind: EntryKind
  /** The first 32 hex digits of SHA-256 of a file's content; a link's target; empty for a folder. */
  digest: string
  executable: boolean
}

/** By path, `/`-separated, relative to the project. */
export type Entries = Map<string, Entry>

/** Hex digits of SHA-256 kept: 128 bits, beyond accident. Must be what node/flexrack_node/workspace/tree.py takes. */
export const DIGEST_DIGITS = 32

/** One hash for all of it: two projects with the same one are the same. */
export function treeHash(entries: Entries): string {
  const hash = createHash('sha256')
  for (const path of [...entries.keys()].sort()) {
    const {kind, digest, executable} = entries.get(path) as Entry
    hash.update(JSON.stringify([path, kind, digest, executable]))
  }
  return hash.digest('hex').slice(0, DIGEST_DIGITS)
}

export function isSameEntry(one: Entry | undefined, other: Entry | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.kind === other.kind &&
    one.digest === other.digest &&
    one.executable === other.executable
  )
}
