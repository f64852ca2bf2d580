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
  /** What sync has put there and somebody has edited since: as sync had left it. */
  edited?: EntryLine[]
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
  /** Also replace what was edited or made on the node. */
  overwrite?: boolean
  /** The body is deflated. */
  packed?: boolean
  owner?: string
  source?: string
}

export interface ChangesQuestion {
  project: string
  /** Below these, every file is told of. */
  paths?: string[]
}

/** Kind '' is what was removed on the node. */
export type EditedFile = [string, '' | EntryKind, string, boolean, string]

export type OwnFile = [string, number, boolean]

export type OwnFolder = [string, number]

/** What a workspace has that its project does not. */
export interface WorkspaceChanges {
  /** Absolute path of the code folder. */
  path: string
  /** Files that sync has put there, and that are others now. */
  edited: EditedFile[]
  /** Files that sync has not put there. */
  own: OwnFile[]
  /** Folders with too many of those to name. */
  many: OwnFolder[]
}

export interface Contents {
  project: string
  paths: string[]
}

/** A piece of a file; the pieces of all files come in order. */
export interface ContentEvent {
  event: 'content'
  path: string
  /** Base64. */
  data: string
}

export interface ContentsSent {
  /** The digest of each; null is what is not a file any more. */
  files: Record<string, string | null>
}

export interface Applied {
  revision: string
  path: string
}

export interface SyncVerbs {
  /** What a node has of a project. */
  'sync.compare': {input: SyncQuestion; result: Compared; event: never}
  /** What was edited, removed or made on the node since the last sync. */
  'sync.changes': {input: ChangesQuestion; result: WorkspaceChanges; event: never}
  /** Contents of files of a workspace. */
  'sync.contents': {input: Contents; result: ContentsSent; event: ContentEvent}
  /** Changes the code folder; the contents are the body. */
  'sync.apply': {input: SyncOrder; result: Applied; event: WaitingEvent}
}
