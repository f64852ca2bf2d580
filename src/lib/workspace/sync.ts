import {hostname, userInfo} from 'node:os'
import {pipeline, Readable} from 'node:stream'
import {createDeflate} from 'node:zlib'
import {CliError, isCliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {EntryLine} from '../protocol/index.ts'
import {rememberBase} from './bases.ts'
import {Content} from './content.ts'
import {computeDelta, describeDelta, type Delta} from './delta.ts'
import type {Snapshot} from './snapshot.ts'

/** What a sync did. */
export interface Synced {
  node: string
  /** Absolute path of the code folder there. */
  codePath: string
  changed: number
  removed: number
  /** Bytes of content that had to travel. */
  bytes: number
}

/** What a node was found to have, and what has to happen there; undefined: nothing. */
export interface PlannedSync {
  revision: string
  /** Absolute path of the code folder there. */
  path: string
  delta: Delta | undefined
  /** Replace what was edited or made on the node. */
  overwrite: boolean
}

/**
 * Up to this many bytes are deflated: beyond, they are mostly data that does not shrink, on a network that is quicker
 * than zlib.
 */
const DEFLATE_MAX = 64 << 20
/** Somebody else may sync the same workspace at the same time; after this many goes it is theirs. */
const GOES = 5

/**
 * Makes the code folder of a project on a node the same as the snapshot. `planned`, from an earlier look, spares the
 * first one. Errors: CONFLICT (somebody else keeps changing it, something of the node's own is in the way, a file
 * changes while it is read), NODE_UNFIT (disk full), INTERRUPTED; in each case the folder is as it was, or repaired by
 * the next sync.
 */
export async function syncCode(
  host: Host,
  project: string,
  snapshot: Snapshot,
  context: Context,
  planned?: PlannedSync,
): Promise<Synced> {
  const overwrite = planned?.overwrite ?? false
  for (let go = 1; ; go++) {
    const now = planned ?? (await look(host, project, snapshot, overwrite, context))
    planned = undefined
    const {delta, path} = now
    if (!delta) return {node: host.node, codePath: path, changed: 0, removed: 0, bytes: 0}
    try {
      await Promise.all([
        applyDelta(host, project, snapshot, delta, now, context),
        rememberBase(snapshot.folder, snapshot.tree, snapshot.entries, context),
      ])
      return {
        node: host.node,
        codePath: path,
        changed: delta.put.size,
        removed: delta.remove.length,
        bytes: delta.bytes,
      }
    } catch (error) {
      if (!isCliError(error, 'CONFLICT') || error.details.retry !== true || go === GOES) throw error
    }
  }
}

async function look(
  host: Host,
  project: string,
  snapshot: Snapshot,
  overwrite: boolean,
  context: Context,
): Promise<PlannedSync> {
  const now = await host.call('sync.compare', question(project, snapshot), {signal: context.signal})
  const delta = computeDelta(snapshot, now, {overwrite})
  if (delta.conflicts.length > 0) throw conflictOf(host.node, delta)
  return {revision: now.revision, path: now.path, delta: isNothing(delta) ? undefined : delta, overwrite}
}

/** Nothing has to travel or to go. */
export const isNothing = ({put, remove, forget}: Delta): boolean =>
  put.size === 0 && remove.length === 0 && forget.length === 0

/** CONFLICT: files were edited on the node, and changed here, too. */
export function conflictOf(node: string, {conflicts}: Pick<Delta, 'conflicts'>): CliError {
  const [first] = conflicts
  const more = conflicts.length > 1 ? ` (and ${conflicts.length - 1} more)` : ''
  return new CliError('CONFLICT', `${first}${more} was edited on ${node}, and changed here, too`, {
    hint: `flexrack workspace pull --on ${node} --dry-run    shows both sides\nflexrack workspace sync --on ${node} --overwrite    takes those here`,
    details: {node, edited: conflicts},
  })
}

/** What sync.compare is asked. */
export function question(project: string, snapshot: Snapshot): {project: string; tree: string; bases: string[]} {
  return {project, tree: snapshot.tree, bases: [...snapshot.bases.keys()]}
}

/**
 * One change of the code folder; gives the revision that it has then. CONFLICT where it was another one, or something
 * of the node's own is in the way.
 */
export async function applyDelta(
  host: Host,
  project: string,
  snapshot: Snapshot,
  delta: Delta,
  {revision, overwrite}: Pick<PlannedSync, 'revision' | 'overwrite'>,
  context: Context,
): Promise<string> {
  const packed = delta.bytes <= DEFLATE_MAX
  const request = {
    project,
    tree: snapshot.tree,
    revision,
    put: [...delta.put].map(([path, {kind, digest, executable}]): EntryLine => [path, kind, digest, executable]),
    remove: delta.remove,
    forget: delta.forget,
    send: [...delta.send].map(([digest, {size}]): [string, number] => [digest, size]),
    ...(overwrite && {overwrite}),
    packed,
    owner: ownName(),
    source: `${hostname()}:${snapshot.folder}`,
  }
  const progress = context.reporter.begin(`Sync code: ${describeDelta(delta, {same: false, revision})}`, host.node)
  const content = new Content(snapshot.folder, delta, progress)
  const plain = Readable.from(content.read(), {objectMode: false})
  try {
    const body = packed ? pipeline(plain, createDeflate({level: 1}), () => {}) : plain
    const applied = await host.call('sync.apply', request, {
      body,
      signal: context.signal,
      onEvent: (event) => {
        if (typeof event.text === 'string') progress.detail(event.text)
      },
    })
    progress.done()
    return applied.revision
  } catch (error) {
    progress.fail()
    throw content.problem ?? error
  } finally {
    plain.destroy()
  }
}

/** What the folder of a workspace is marked with: who brought it there. */
export function ownName(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return hostname() // a user without an entry in passwd
  }
}
