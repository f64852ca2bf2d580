// Sync: a workspace's code becomes the same as the project. Generated from protocol/sync.json by `npm run protocol`.
import type {WaitingEvent} from './environment.ts'

/** f: file, l: symbolic link (digest is its target), d: folder with nothing of the project in it. */
export type EntryKind = 'f' | 'l' | 'd'

export type EntryLine = [string, EntryKind, string, boolean]

/** Kind '' is what has gone since. */
export type InventoryLine = [string, '' | EntryKind, string, boolean]

export interface SyncQuestion {
  project: string
  /** Hash of the project's content. */
  tree: string
  /** Hashes of contents that the caller knows. */
  bases?: string[]
}

/** Who brought the code there last. */
export interface LastSync {
  owner?: string | null
  source?: string | null
  at?: number
  files?: number
  tree?: string
}

/** What a node has of a project. */
export interface Compared {
  same: boolean
  revision: string
  /** Absolute path of the code folder. */
  path: string
  /** Of the bases, what sync has put there last; then `inventory` is only what differs from it. */
  base?: string | null
  /** Everything that sync has put there, as it is now. */
  inventory?: InventoryLine[]
  /** Contents that came before an earlier sync was cut short. */
  staged?: string[]
  last: LastSync | null
}

export interface SyncOrder {
  project: string
  tree: string
  /** Of the comparison that this follows from. */
  revision: string
  put: EntryLine[]
  remove: string[]
  /** Files that sync put there once and that the patterns now leave out: they stay, and are the node's own from now on. */
  forget: string[]
  /** What the body has, in its order. */
  send: [string, number][]
  /** The body is deflated. */
  packed?: boolean
  owner?: string
  source?: string
}

export interface Applied {
  revision: string
  path: string
}

export interface SyncVerbs {
  /** What a node has of a project. */
  'sync.compare': {input: SyncQuestion; result: Compared; event: never}
  /** Changes the code folder; the contents are the body. */
  'sync.apply': {input: SyncOrder; result: Applied; event: WaitingEvent}
}
