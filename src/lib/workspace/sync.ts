import {hostname, userInfo} from 'node:os'
import {open} from 'node:fs/promises'
import {createHash} from 'node:crypto'
import {join} from 'node:path'
import {pipeline, Readable} from 'node:stream'
import {createDeflate} from 'node:zlib'
import {CliError, isCliError, type Context, type Progress} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {rememberBase} from './bases.ts'
import {computeDelta, describeDelta, type Compared, type Delta} from './delta.ts'
import {DIGEST_DIGITS} from './entry.ts'
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

/** Up to this many bytes are deflated: beyond, they are mostly data that does not shrink, on a network that is quicker than zlib. */
const DEFLATE_MAX = 64 << 20
const PIECE = 256 << 10
/** Somebody else may sync the same workspace at the same time; after this many goes it is theirs. */
const GOES = 5

/**
 * Makes the code folder of a project on a node the same as the snapshot. `compared` spares the first look.
 * Errors: CONFLICT (somebody else keeps changing it, something of the node's own is in the way, a file changes while it is read),
 * NODE_UNFIT (disk full), INTERRUPTED; in each case the folder is as it was, or repaired by the next sync.
 */
export async function syncCode(host: Host, project: string, snapshot: Snapshot, context: Context, compared?: Compared): Promise<Synced> {
  for (let go = 1; ; go++) {
    const now = compared ?? (await host.call<Compared>('sync.compare', question(project, snapshot), {signal: context.signal}))
    compared = undefined
    if (now.same) return {node: host.node, codePath: now.path, changed: 0, removed: 0, bytes: 0}
    const delta = computeDelta(snapshot, now)
    try {
      await Promise.all([applyDelta(host, project, snapshot, delta, now, context), rememberBase(snapshot.folder, snapshot.tree, snapshot.entries, context)])
      return {node: host.node, codePath: now.path, changed: delta.put.size, removed: delta.remove.length, bytes: delta.bytes}
    } catch (error) {
      if (!isCliError(error, 'CONFLICT') || error.details.retry !== true || go === GOES) throw error
    }
  }
}

/** What sync.compare is asked. */
export function question(project: string, snapshot: Snapshot): {project: string; tree: string; bases: string[]} {
  return {project, tree: snapshot.tree, bases: [...snapshot.bases.keys()]}
}

async function applyDelta(host: Host, project: string, snapshot: Snapshot, delta: Delta, compared: Compared, context: Context): Promise<void> {
  const packed = delta.bytes <= DEFLATE_MAX
  const request = {
    project,
    tree: snapshot.tree,
    revision: compared.revision,
    put: [...delta.put].map(([path, {kind, digest, executable}]) => [path, kind, digest, executable]),
    remove: delta.remove,
    forget: delta.forget,
    send: [...delta.send].map(([digest, {size}]) => [digest, size]),
    packed,
    owner: ownName(),
    source: `${hostname()}:${snapshot.folder}`,
  }
  const progress = context.reporter.begin(`Sync code: ${describeDelta(delta, compared)}`, host.node)
  const content = new Content(snapshot.folder, delta, progress)
  const plain = Readable.from(content.read(), {objectMode: false})
  try {
    const body = packed ? pipeline(plain, createDeflate({level: 1}), () => {}) : plain
    await host.call('sync.apply', request, {
      body,
      signal: context.signal,
      onEvent: (event) => {
        if (typeof event.text === 'string') progress.detail(event.text)
      },
    })
    progress.done()
  } catch (error) {
    progress.fail()
    throw content.problem ?? error
  } finally {
    plain.destroy() // closes the file it is at
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

/** The contents one after the other, checked while they are read: what was looked at is what travels. */
class Content {
  /** Why it ended early, if it did. */
  problem: CliError | undefined
  readonly #folder: string
  readonly #delta: Delta
  readonly #progress: Progress

  constructor(folder: string, delta: Delta, progress: Progress) {
    this.#folder = folder
    this.#delta = delta
    this.#progress = progress
  }

  async *read(): AsyncGenerator<Buffer> {
    let sent = 0
    for (const [digest, {path, size}] of this.#delta.send) {
      const sha = createHash('sha256')
      let left = size
      for await (const piece of this.#pieces(path)) {
        left -= piece.length
        if (left < 0) break
        sha.update(piece)
        sent += piece.length
        this.#progress.amount(sent, this.#delta.bytes, 'bytes')
        yield piece
      }
      if (left !== 0 || sha.digest('hex').slice(0, DIGEST_DIGITS) !== digest) {
        this.problem = new CliError('CONFLICT', `${path} changed while it was being read`, {
          hint: 'run the command again; if something writes this file all the time, exclude it in workspace.sync.exclude',
          details: {path, changing: true},
        })
        return // the node sees the end too early, and drops what has come
      }
    }
  }

  async *#pieces(path: string): AsyncGenerator<Buffer> {
    let file
    try {
      file = await open(join(this.#folder, path))
    } catch {
      return // gone since: told as a change
    }
    try {
      for (;;) {
        const {bytesRead, buffer} = await file.read({buffer: Buffer.allocUnsafe(PIECE), length: PIECE})
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  }
}
