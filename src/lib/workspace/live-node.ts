import {isCliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {isLinkTrouble} from '../ssh/index.ts'
import {rememberBase} from './bases.ts'
import {computeDelta, type Delta} from './delta.ts'
import {treeHash, type Entries} from './entry.ts'
import type {Snapshot} from './snapshot.ts'
import {applyDelta, isNothing, question} from './sync.ts'

/** What happens while a project is kept in sync. */
export type LiveEvent =
  | {event: 'ready'; node: string}
  | {event: 'synced'; node: string; paths: string[]; removed: string[]; bytes: number; milliseconds: number}
  | {event: 'conflict'; node: string; paths: string[]; reason: string; hint?: string}
  | {event: 'kept'; node: string; paths: string[]}
  | {event: 'lost'; node: string; reason: string}
  | {event: 'back'; node: string; gapSeconds: number}
  | {event: 'unreadable'; reason: string}

export interface LiveNodeOrder {
  name: string
  connect: () => Promise<Host>
  project: string
  overwrite: boolean
  onEvent: (event: LiveEvent) => void
}

const FIRST_WAIT_MS = 250
const AGAIN_MS = 50
const LONGEST_WAIT_MS = 15_000

/** One node of those that are kept in sync: knows what it has, so that a save costs one call. */
export class LiveNode {
  readonly #order: LiveNodeOrder
  readonly #context: Context
  #wanted: Snapshot | undefined
  #since = 0
  #wake: (() => void) | undefined
  #isStopped = false
  #isPausing = false
  #host: Host | undefined
  /** What the node has as far as we know; undefined: it has to be asked. */
  #there: {revision: string; entries: Entries} | undefined
  /** What was edited there and is not replaced, by path: the content here that was refused. */
  readonly #refused = new Map<string, string | undefined>()
  #isReady = false

  constructor(order: LiveNodeOrder, context: Context) {
    this.#order = order
    this.#context = context
  }

  want(snapshot: Snapshot): void {
    this.#wanted = snapshot
    this.#since = performance.now()
    if (!this.#isPausing) this.#wake?.()
  }

  stop(): void {
    this.#isStopped = true
    this.#wake?.()
  }

  /** Until stop(), or the signal. Throws what another try would not change. */
  async run(): Promise<void> {
    let lostAt: number | undefined
    for (let wait = FIRST_WAIT_MS; !this.#isOver();) {
      const wanted = this.#wanted
      if (!wanted) {
        await this.#woken()
        continue
      }
      this.#wanted = undefined
      try {
        this.#host ??= await this.#order.connect()
        if (lostAt !== undefined)
          this.#tell({
            event: 'back',
            node: this.#order.name,
            gapSeconds: Math.round((performance.now() - lostAt) / 100) / 10,
          })
        lostAt = undefined
        wait = FIRST_WAIT_MS
        await this.#bring(this.#host, wanted)
        if (!this.#isReady) this.#tell({event: 'ready', node: this.#order.name})
        this.#isReady = true
      } catch (error) {
        if (this.#isOver()) return
        this.#wanted ??= wanted
        this.#there = undefined
        // a file that changed while it was read, or somebody else's sync: look again
        if (isCliError(error, 'CONFLICT')) {
          await this.#woken(AGAIN_MS)
          continue
        }
        if (!isCliError(error) || !(isLinkTrouble(error) || isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')))
          throw error
        if (lostAt === undefined) this.#tell({event: 'lost', node: this.#order.name, reason: error.message})
        lostAt ??= performance.now()
        this.#host = undefined
        await this.#woken(wait)
        wait = Math.min(wait * 2, LONGEST_WAIT_MS)
      }
    }
  }

  async #bring(host: Host, snapshot: Snapshot): Promise<void> {
    const {project, overwrite, name} = this.#order
    const began = this.#since
    for (let go = 1; ; go++) {
      this.#there ??= await this.#ask(host, snapshot)
      const {revision, entries} = this.#there
      const delta = this.#without(
        snapshot,
        computeDelta(
          snapshot,
          {same: false, revision, path: '', last: null, base: 'there', inventory: []},
          {there: entries},
        ),
      )
      if (isNothing(delta)) return
      try {
        // A node that lacks something has another tree than the project, so that the next sync looks at all of it.
        const tree = `${treeHash(snapshot.entries)}${this.#refused.size > 0 ? ` without ${this.#refused.size}` : ''}`
        const next = await applyDelta(host, project, {...snapshot, tree}, delta, {revision, overwrite}, this.#context)
        this.#there = {revision: next, entries: after(entries, delta)}
        this.#tell({
          event: 'synced',
          node: name,
          paths: [...delta.put.keys()],
          removed: delta.remove.filter((path) => entries.get(path)?.kind !== 'd'),
          bytes: delta.bytes,
          milliseconds: Math.round(performance.now() - began),
        })
        return
      } catch (error) {
        if (!isCliError(error, 'CONFLICT') || go > 100) throw error
        const edited = refusedBy(error.details as Refusal, delta)
        if (edited.length > 0) this.#refuse(snapshot, edited, error.message, error.hint)
        else if (error.details.retry === true) this.#there = undefined
        else throw error
      }
    }
  }

  /** What the node has, after a look: with what was edited there as it is, and told. */
  async #ask(host: Host, snapshot: Snapshot): Promise<{revision: string; entries: Entries}> {
    const compared = await host.call('sync.compare', question(this.#order.project, snapshot), {
      signal: this.#context.signal,
    })
    const entries: Entries = new Map(
      compared.same ? snapshot.entries : compared.base ? snapshot.bases.get(compared.base) : [],
    )
    for (const [path, kind, digest, executable] of compared.inventory ?? []) {
      if (kind === '') entries.delete(path)
      else entries.set(path, {kind, digest, executable})
    }
    if (!this.#order.overwrite) {
      const {kept, conflicts} = computeDelta(snapshot, compared)
      for (const path of kept) this.#refused.set(path, snapshot.entries.get(path)?.digest)
      if (kept.length > 0) this.#tell({event: 'kept', node: this.#order.name, paths: kept})
      if (conflicts.length > 0)
        this.#refuse(
          snapshot,
          conflicts,
          `edited on ${this.#order.name}, and changed here, too: ${conflicts.join(', ')}`,
        )
    }
    if (!this.#isReady) await rememberBase(snapshot.folder, treeHash(snapshot.entries), snapshot.entries, this.#context)
    return {revision: compared.revision, entries}
  }

  #refuse(snapshot: Snapshot, paths: string[], reason: string, hint?: string): void {
    for (const path of paths) this.#refused.set(path, snapshot.entries.get(path)?.digest)
    this.#tell({event: 'conflict', node: this.#order.name, paths, reason, ...(hint !== undefined && {hint})})
  }

  /** Leaves out what was refused, as long as it is the same here. */
  #without(snapshot: Snapshot, delta: Delta): Delta {
    const isRefused = (path: string): boolean => {
      if (!this.#refused.has(path)) return false
      if (this.#refused.get(path) === snapshot.entries.get(path)?.digest) return true
      this.#refused.delete(path)
      return false
    }
    for (const path of delta.put.keys()) if (isRefused(path)) delta.put.delete(path)
    delta.remove = delta.remove.filter((path) => !isRefused(path))
    const needed = new Set([...delta.put.values()].map(({digest}) => digest))
    for (const [digest, {size}] of delta.send) {
      if (needed.has(digest)) continue
      delta.send.delete(digest)
      delta.bytes -= size
    }
    return delta
  }

  #isOver(): boolean {
    return this.#isStopped || this.#context.signal.aborted
  }

  #tell(event: LiveEvent): void {
    if (!this.#isOver()) this.#order.onEvent(event)
  }

  /** Until something is wanted, or, with `milliseconds`, until they have passed; in any case until it is over. */
  async #woken(milliseconds?: number): Promise<void> {
    const {signal} = this.#context
    this.#isPausing = milliseconds !== undefined
    await new Promise<void>((resolve) => {
      const timer = milliseconds === undefined ? undefined : setTimeout(() => done(), milliseconds)
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        this.#wake = undefined
        resolve()
      }
      this.#wake = done
      signal.addEventListener('abort', done)
      if (this.#isOver()) done()
    })
    this.#isPausing = false
  }
}

interface Refusal {
  edited?: string[]
  path?: string
  changing?: boolean
}

/** Which paths a node's refusal is about: what was edited there, or all that something of its own is in the way of. */
function refusedBy({edited, path, changing}: Refusal, {put}: Delta): string[] {
  if (edited) return edited
  return changing || path === undefined
    ? []
    : [...put.keys()].filter((one) => one === path || one.startsWith(`${path}/`))
}

function after(entries: Entries, {put, remove, forget}: Delta): Entries {
  const next: Entries = new Map(entries)
  for (const [path, entry] of put) next.set(path, entry)
  for (const path of [...remove, ...forget]) next.delete(path)
  return next
}
