import {isCliError, silentReporter, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import {LiveNode, type LiveEvent} from './live-node.ts'
import {Notice} from './notice.ts'
import {takeSnapshot, type Snapshot} from './snapshot.ts'

/** A save is several changes: a program truncates, writes, renames. Milliseconds without another one. */
const QUIET_MS = 25
/** At most, while something writes all the time. */
const LATEST_MS = 200
/** A file that has gone may come back: some editors move it away before they write it anew. Milliseconds. */
const GONE_MS = 300
/** What no watch tells of (a network file system, an overflow) is seen by then. */
const LOOK_MS = 10_000

/** `workspace sync --watch`. */
export const LIVE_SYNC = {keep: keepSynced}

export interface LiveOptions {
  /** Also replace what was edited or made on the nodes. */
  overwrite: boolean
  onEvent: (event: LiveEvent) => void
}

/**
 * Keeps the code folders of nodes the same as the project until context.signal is aborted. `connect` gives a node's
 * host, anew after a lost connection. One call a node and save. Errors: those of the first look at the project, and of
 * a first connection that is refused.
 */
async function keepSynced(
  nodes: {name: string; connect: () => Promise<Host>}[],
  manifest: Manifest,
  {overwrite, onEvent}: LiveOptions,
  context: Context,
): Promise<void> {
  const quiet: Context = {...context, reporter: silentReporter}
  const look = (): Promise<Snapshot> => takeSnapshot(manifest.folder, manifest.workspace.exclude, quiet)
  let snapshot = await look()
  const changes = new Changes(context.signal)
  const notice = new Notice(snapshot.folder, () => changes.note())
  const workers = nodes.map(
    ({name, connect}) => new LiveNode({name, connect, project: manifest.name, overwrite, onEvent}, quiet),
  )
  const working = workers.map((worker) => worker.run())
  const failed = Promise.all(working).then(() => {})
  failed.catch(() => {}) // told where it is waited for
  try {
    if (notice.follow(snapshot)) changes.note()
    for (const worker of workers) worker.want(snapshot)
    while (!context.signal.aborted) {
      await Promise.race([changes.settled(), failed])
      if (context.signal.aborted) return
      const next = await lookAgain(look, onEvent)
      if (!next) {
        changes.noteLater(GONE_MS)
        continue
      }
      if (notice.follow(next)) changes.note()
      const held = withGone(snapshot, next, changes)
      if (held.tree === snapshot.tree) continue
      snapshot = held
      for (const worker of workers) worker.want(snapshot)
    }
  } finally {
    notice.close()
    changes.close()
    for (const worker of workers) worker.stop()
    await Promise.allSettled(working)
  }
}

/**
 * Undefined where the project cannot be read right now: a file went away meanwhile, or it has something that cannot
 * travel. That is told once it lasts.
 */
async function lookAgain(
  look: () => Promise<Snapshot>,
  onEvent: LiveOptions['onEvent'],
): Promise<Snapshot | undefined> {
  for (let go = 1; ; go++) {
    try {
      return await look()
    } catch (error) {
      if (!isCliError(error)) throw error
      if (go < 3) continue
      onEvent({event: 'unreadable', reason: error.message})
      return undefined
    }
  }
}

/** What has just gone counts as there until it has been away for GONE_MS. */
function withGone(before: Snapshot, next: Snapshot, changes: Changes): Snapshot {
  const now = performance.now()
  const held = new Map(next.entries)
  for (const [path, entry] of before.entries) {
    if (next.entries.has(path) || changes.isOver(path, now)) continue
    held.set(path, entry)
  }
  changes.forgetAllBut((path) => !next.entries.has(path) && before.entries.has(path))
  return held.size === next.entries.size
    ? next
    : {...next, entries: held, tree: `${next.tree}+${held.size - next.entries.size}`}
}

/** When there is something to look at. */
class Changes {
  readonly #signal: AbortSignal
  readonly #gone = new Map<string, number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #first: number | undefined
  #last = 0
  #wake: (() => void) | undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake?.(), {once: true})
  }

  note(): void {
    this.#last = performance.now()
    this.#first ??= this.#last
    this.#wake?.()
  }

  noteLater(milliseconds: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.note()
    }, milliseconds)
    this.#timers.add(timer)
  }

  /** Whether a path that is not there has been away long enough; if not, there will be another look. */
  isOver(path: string, now: number): boolean {
    const since = this.#gone.get(path)
    if (since !== undefined) return now - since >= GONE_MS - 1
    this.#gone.set(path, now)
    this.noteLater(GONE_MS)
    return false
  }

  forgetAllBut(isGone: (path: string) => boolean): void {
    for (const path of this.#gone.keys()) if (!isGone(path)) this.#gone.delete(path)
  }

  /** Resolves once something was noted and it has been quiet for a moment, or after LOOK_MS. */
  async settled(): Promise<void> {
    const until = performance.now() + LOOK_MS
    while (!this.#signal.aborted) {
      const now = performance.now()
      const due = this.#first === undefined ? until : Math.min(this.#last + QUIET_MS, this.#first + LATEST_MS, until)
      if (now >= due) break
      await this.#pause(due - now)
    }
    this.#first = undefined
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), milliseconds)
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
    })
  }
}
