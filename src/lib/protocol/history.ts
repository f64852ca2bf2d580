// What workspaces were before: snapshots by restic, on the node. Ids of snapshots have 64 hex digits; times are seconds since 1970. Generated from protocol/history.json by `npm run protocol`.
import type {WaitingEvent} from './environment.ts'
import type {ComesBack} from './service.ts'

export interface HistoryProject {
  project: string
}

export interface HistoryInspected {
  /** Seconds between saves; null: autosave is off. */
  every: number | null
  exclude: string[]
  largest: number | null
  running: boolean
  /** Path of the one that is used. */
  restic: string | null
  /** The kind of machine whose restic is to be sent; null: none is. */
  lacks: string | null
  /** Why none can be used here. */
  why: string | null
  hint: string | null
}

/** A package of Debian, which follows as the body. */
export interface ResticPackage {
  name: string
  sha256: string
}

export interface ResticPlaced {
  path: string
}

export interface HistoryWanted {
  project: string
  /** Seconds between saves. */
  every: number
  /** Patterns as in .gitignore. */
  exclude: string[]
  /** Bytes of a file of the node's own beyond which it is not saved. */
  largest?: number | null
}

export interface HistoryOn {
  comes_back: ComesBack
  restic: string
  version: string
}

export interface HistoryOff {
  stopped: boolean
}

export interface SavedNow {
  /** Null: there is nothing to save. */
  snapshot: string | null
  /** False: nothing has changed since that one. */
  made: boolean
  /** Bytes, before they are compressed. */
  added: number
  /** Files that could not be read, and are not in it. */
  unreadable: string[]
}

export interface HistoryRenewed {
  /** Where the one of before is. */
  aside: string
}

export interface HistoryQuestion {
  project: string
  path?: string
}

/** What of a workspace is not saved. */
export interface LeftOutOfHistory {
  path: string
  why: 'excluded' | 'program' | 'large' | 'many'
  files: number
  bytes: number
}

export interface HistorySnapshot {
  id: string
  at: number
  /** run: what a run has run; before-restore: what a restore has replaced. */
  kind: 'autosave' | 'asked' | 'before-restore' | 'run'
  /** Runs of this node that ran it. */
  runs: string[]
}

/** The first snapshot that has a path so. */
export interface FileVersion {
  id: string
  at: number
  kind: string
  /** file, dir, symlink; absent: it was gone. */
  what: string
  bytes: number | null
  changed_at: number | null
}

export interface HistoryFound {
  project: string
  /** Absolute: its folder. */
  path: string
  /** There is a repository. */
  there: boolean
  every: number | null
  running: boolean
  now: number
  looked_at: number | null
  saved_at: number | null
  files: number | null
  bytes: number | null
  left: LeftOutOfHistory[]
  left_count: number
  unreadable: string[]
  /** Why the last save failed. */
  error: string | null
  hint: string | null
  /** What the last check found. */
  damage: string | null
  snapshots: HistorySnapshot[]
  versions: FileVersion[]
}

export interface HistoryDiff {
  project: string
  at?: number
  snapshot?: string
  run?: string
  path?: string
  text: boolean
}

export interface HistoryChange {
  path: string
  what: 'made' | 'removed' | 'changed' | 'mode'
  /** Now; of a removed one then. */
  bytes: number
  /** As of `diff -u`; null where they were not asked for, or are not shown. */
  lines: string | null
}

export interface HistoryDiffed {
  snapshot: string
  at: number
  changes: HistoryChange[]
}

export interface HistoryWish {
  project: string
  at?: number
  snapshot?: string
  run?: string
  path?: string
  in_place: boolean
  /** Also remove what was not there then. */
  remove?: boolean
  dry_run?: boolean
}

export interface RestoredFile {
  path: string
  what: 'made' | 'replaced' | 'removed'
  bytes: number
}

export interface HistoryRestored {
  snapshot: string
  at: number
  /** Absolute; null: in place, or not carried out. */
  folder: string | null
  /** What a restore in place changes. */
  files: RestoredFile[]
  /** The snapshot of what was there before. */
  before: string | null
  /** Paths whose content the repository does not have any more, or not as it was. */
  lost: string[]
  count: number
  bytes: number
}

export interface HistoryDiscard {
  project: string
  folder: string
}

export interface HistoryDiscarded {
  removed: boolean
}

export interface HistoryFiles {
  /** Absolute: the repository. */
  path: string
  /** SHA-256 of its config: which repository it is. */
  config: string
  /** Path in it; a file's name is the SHA-256 of its content. */
  files: RepositoryFile[]
}

export interface RepositoryFile {
  path: string
  bytes: number
}

export interface HistoryKey {
  /** The repository's password. */
  key: string
}

/** What workspace.autosave asked for last. */
export interface HistorySettings {
  /** Seconds; null: it was switched off. */
  every: number | null
  exclude: string[]
  largest: number | null
}

/** What was saved last, and what failed. */
export interface HistoryState {
  at?: number
  saved_at?: number
  snapshot?: string
  /** SHA-256 over what a stat walk saw. */
  fingerprint?: string
  files?: number
  bytes?: number
  left?: LeftOutOfHistory[]
  left_count?: number
  unreadable?: string[]
  error?: string | null
  hint?: string | null
  error_at?: number
  tidied_at?: number
  tidied_part?: number
  damage?: string | null
}

/** Snapshots by the digest of the code that runs ran. */
export interface HistoryCodes {
  codes: Record<string, string>
}

export interface HistoryVerbs {
  /** Whether a workspace is saved by itself, and what that lacks here. */
  'history.inspect': {input: HistoryProject; result: HistoryInspected; event: never}
  /** Takes a package with restic as the body. */
  'history.tool': {input: ResticPackage; result: ResticPlaced; event: never}
  /** A workspace is saved by itself from now on. */
  'history.on': {input: HistoryWanted; result: HistoryOn; event: WaitingEvent}
  /** It is not any more; what was saved stays. */
  'history.off': {input: HistoryProject; result: HistoryOff; event: never}
  /** Saves it now. */
  'history.save': {input: HistoryProject; result: SavedNow; event: WaitingEvent}
  /** Puts a repository aside that is damaged or whose key is lost, and begins another one. */
  'history.anew': {input: HistoryProject; result: HistoryRenewed; event: WaitingEvent}
  /** The snapshots of a workspace, or the versions of a path in it. */
  'history.list': {input: HistoryQuestion; result: HistoryFound; event: never}
  /** What has changed since a snapshot. */
  'history.diff': {input: HistoryDiff; result: HistoryDiffed; event: never}
  /** Brings a snapshot back, beside or in place. */
  'history.restore': {input: HistoryWish; result: HistoryRestored; event: WaitingEvent}
  /** The files of a repository, for who copies it. */
  'history.files': {input: HistoryProject; result: HistoryFiles; event: never}
  /** Its password, for a copy of it. */
  'history.key': {input: HistoryProject; result: HistoryKey; event: never}
  /** Removes what was restored beside. */
  'history.discard': {input: HistoryDiscard; result: HistoryDiscarded; event: never}
}
