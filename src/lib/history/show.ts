import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {FileVersion, HistoryChange, HistoryFound, HistorySnapshot, LeftOutOfHistory} from '../protocol/index.ts'
import type {Moment} from './moment.ts'

export interface ShownSnapshot extends Omit<HistorySnapshot, 'at'> {
  /** ISO 8601. */
  at: string
}

export interface SavedVersion extends Omit<FileVersion, 'at' | 'changed_at'> {
  at: string
  changedAt: string | null
}

/** What a node has saved of a workspace. */
export interface WorkspaceHistory {
  node: string
  project: string
  /** Its folder there. */
  path: string
  /** Seconds between saves; null: it is not saved by itself. */
  every: number | null
  /** on; off; ended: it should be saved by itself, and what does that does not run. */
  autosave: 'on' | 'off' | 'ended'
  lookedAt: string | null
  savedAt: string | null
  /** Of the last look. */
  files: number | null
  bytes: number | null
  /** What is not saved, the most bytes first. */
  left: LeftOutOfHistory[]
  leftCount: number
  unreadable: string[]
  /** Why the last save failed, and what the last check of the repository found. */
  error: {message: string; hint: string | null} | null
  damage: string | null
  /** Oldest first. */
  snapshots: ShownSnapshot[]
  /** Of the file that was asked for. */
  versions: SavedVersion[]
}

/** What changed in a workspace since a snapshot. */
export interface WorkspaceDiff {
  node: string
  project: string
  snapshot: string
  at: string
  changes: HistoryChange[]
}

/** Errors: NOT_FOUND where no snapshot has the path. */
export async function showHistory(
  host: Host,
  project: string,
  path: string | undefined,
  context: Context,
): Promise<WorkspaceHistory> {
  return shown(
    host.node,
    await host.call('history.list', {project, ...(path !== undefined && {path})}, {signal: context.signal}),
  )
}

/**
 * Against what the workspace has now. `text`: with the lines that differ. Errors: NOT_FOUND, CONFLICT where the
 * repository is damaged.
 */
export async function diffHistory(
  host: Host,
  project: string,
  wish: Moment & {run?: string; path?: string},
  text: boolean,
  context: Context,
): Promise<WorkspaceDiff> {
  const {snapshot, at, changes} = await host.call('history.diff', {project, ...wish, text}, {signal: context.signal})
  return {node: host.node, project, snapshot, at: time(at), changes}
}

/** Pure. */
export function shown(node: string, found: HistoryFound): WorkspaceHistory {
  return {
    node,
    project: found.project,
    path: found.path,
    every: found.every,
    autosave: found.every === null ? 'off' : found.running ? 'on' : 'ended',
    lookedAt: found.looked_at === null ? null : time(found.looked_at),
    savedAt: found.saved_at === null ? null : time(found.saved_at),
    files: found.files,
    bytes: found.bytes,
    left: found.left,
    leftCount: found.left_count,
    unreadable: found.unreadable,
    error: found.error === null ? null : {message: found.error, hint: found.hint},
    damage: found.damage,
    snapshots: found.snapshots.map((one) => ({...one, at: time(one.at)})),
    versions: found.versions.map(({at, changed_at: changedAt, ...one}) => ({
      ...one,
      at: time(at),
      changedAt: changedAt === null ? null : time(changedAt),
    })),
  }
}

export const time = (seconds: number): string => new Date(seconds * 1000).toISOString()
