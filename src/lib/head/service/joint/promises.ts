import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import type {HeadPromise} from '../../../protocol/index.ts'
import {openDurables, Turns, writeDurably} from '../files/durable.ts'
import {readChanges, type Change} from '../documents/endpoint-changes.ts'
import type {Endpoints} from '../documents/endpoints.ts'
import {Failure} from '../failure.ts'
import {logLine} from '../log.ts'

/** So long a decision can be asked for: as long as the token that asks lives. */
const KEEP_MS = 90 * 24 * 3_600_000
const LONGEST_LEASE_MS = 300_000

/** Asks the head that decides; undefined where it gave no answer. */
export type Ask = (leader: NonNullable<HeadPromise['leader']>, id: string) => Promise<HeadPromise['state'] | undefined>

/**
 * Switches over several racks, of which this head does its part: it promises, and then either does what it has promised or
 * drops it, as the head of the first rack decides. A file each, written before anything follows from it.
 */
export class Promises {
  readonly #folder: string
  readonly #endpoints: Endpoints
  readonly #kept: Map<string, HeadPromise>
  readonly #ask: Ask
  readonly #turns = new Turns()
  readonly #switched: ((name: string) => void)[] = []
  readonly #dropped: ((name: string) => Promise<void>)[] = []

  private constructor(folder: string, endpoints: Endpoints, kept: Map<string, HeadPromise>, ask: Ask) {
    this.#folder = folder
    this.#endpoints = endpoints
    this.#kept = kept
    this.#ask = ask
  }

  static async open(headFolder: string, endpoints: Endpoints, ask: Ask): Promise<Promises> {
    const folder = join(headFolder, 'joint')
    const kept = await openDurables<HeadPromise>('head.promise', folder)
    for (const [id, {state, changes}] of kept) {
      const names = changes.map(({name}) => name)
      if (state !== 'dropped') endpoints.keepPromised(id, names)
    }
    return new Promises(folder, endpoints, kept, ask)
  }

  /** Has `tell` called for every endpoint that a promise has switched. */
  whenSwitched(tell: (name: string) => void): void {
    this.#switched.push(tell)
  }

  /** Has `tell` called for every endpoint that a promise does not switch; where it throws, that is tried again. */
  whenDropped(tell: (name: string) => Promise<void>): void {
    this.#dropped.push(tell)
  }

  find(id: string): HeadPromise | undefined {
    return this.#kept.get(id)
  }

  /**
   * Promised on disk when this resolves; the same one again is the same. `counting`: counts the changes once `work` is done.
   * Errors: 400, 409, and those of `counting`.
   */
  promise(
    id: string,
    given: Record<string, unknown>,
    counting: <T>(changes: Change[], work: () => Promise<T>) => Promise<T> = (_changes, work) => work(),
  ): Promise<HeadPromise> {
    return this.#turns.take(async () => {
      const known = this.#kept.get(id)
      if (known) return known
      await this.#forgetOld()
      const promise = readPromise(id, given)
      const changes = promise.changes as Change[]
      await counting(changes, () => this.#endpoints.promise(id, changes, () => this.#write(id, promise)))
      return promise
    })
  }

  /**
   * What is decided, at the head that decides; what was decided there, at the others. Done when this resolves. Errors: 404;
   * 409 where it was decided otherwise.
   */
  decide(id: string, decision: 'committed' | 'dropped'): Promise<HeadPromise> {
    return this.#turns.take(async () => {
      const promise = this.#kept.get(id)
      if (!promise) throw new Failure(404, 'NOT_FOUND', `no switch ${id}`)
      if (promise.state !== 'promised' && promise.state !== decision)
        throw new Failure(409, 'CONFLICT', `the switch ${id} was ${promise.state}`)
      // From here on it is so, whatever happens: what is left to do is found in the file.
      if (promise.state === 'promised') await this.#write(id, {...promise, state: decision, at: Date.now()})
      return this.#finish(id)
    })
  }

  /** What is known of it; where that is nothing yet and its lease is over, whoever decides is asked. */
  async settle(id: string): Promise<HeadPromise> {
    const promise = this.#kept.get(id)
    if (!promise) throw new Failure(404, 'NOT_FOUND', `no switch ${id}`)
    if (promise.state !== 'promised') return promise.changes.length > 0 ? this.decide(id, promise.state) : promise
    const isOver = Date.now() >= promise.leaseUntil
    if (!promise.leader) return isOver ? this.decide(id, 'dropped') : promise
    const decided = await this.#ask(promise.leader, id)
    return decided === 'committed' || decided === 'dropped' ? this.decide(id, decided) : promise
  }

  /** Settles all whose lease is over, and does what was decided and not done. */
  async look(): Promise<void> {
    for (const [id, {state, changes, leaseUntil}] of this.#kept) {
      const isOpen = state === 'promised' ? Date.now() >= leaseUntil : changes.length > 0
      if (isOpen) await this.settle(id).catch((error: Error) => logLine(`switch ${id}: ${error.message}`))
    }
  }

  async #finish(id: string): Promise<HeadPromise> {
    const promise = this.#kept.get(id)!
    if (promise.changes.length === 0) return promise
    if (promise.state === 'committed') await this.#switch(id, promise.changes as Change[])
    else for (const {name} of promise.changes) for (const tell of this.#dropped) await tell(name)
    const done = {...promise, changes: []}
    await this.#write(id, done)
    this.#endpoints.release(id)
    return done
  }

  async #switch(id: string, changes: Change[]): Promise<void> {
    // All or none have it: it was one write of theirs (switch.ts), which a head that was killed after it finds done.
    const isDone = changes.every(({name, revision}) => this.#endpoints.find(name)?.revision === Number(revision) + 1)
    if (!isDone) await this.#endpoints.putTogether(changes, id)
    for (const {name} of changes) for (const tell of this.#switched) tell(name)
  }

  async #write(id: string, promise: HeadPromise): Promise<void> {
    await writeDurably('head.promise', this.#fileOf(id), promise)
    this.#kept.set(id, promise)
  }

  async #forgetOld(): Promise<void> {
    for (const [id, {state, at}] of this.#kept) {
      if (state === 'promised' || Date.now() - at < KEEP_MS) continue
      await rm(this.#fileOf(id), {force: true})
      this.#kept.delete(id)
    }
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${id}.json`)
  }
}

/** Throws 400. */
function readPromise(id: string, {racks, changes, leader, lease_seconds: lease}: Record<string, unknown>): HeadPromise {
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new Failure(400, 'USAGE', 'a switch is named by a UUID')
  if (!Array.isArray(racks) || racks.length < 2 || racks.length > 50 || !racks.every(isText))
    throw new Failure(400, 'USAGE', 'racks must be the names of 2 to 50 racks')
  const leaseMs = typeof lease === 'number' ? lease * 1000 : Number.NaN
  if (!(leaseMs > 0 && leaseMs <= LONGEST_LEASE_MS))
    throw new Failure(400, 'USAGE', `lease_seconds must be above 0 and at most ${LONGEST_LEASE_MS / 1000}`)
  const now = Date.now()
  const read = readChanges(changes).map((one) => ({...one, revision: Number(one.revision ?? 0)}))
  const promise: HeadPromise = {
    state: 'promised',
    racks,
    changes: read,
    leader: null,
    leaseUntil: now + leaseMs,
    at: now,
  }
  if (leader === undefined || leader === null) return promise
  const {url, ca, token} = leader as Record<string, unknown>
  if (!isText(url) || !url.startsWith('https://') || !isText(token) || !(ca === null || isText(ca)))
    throw new Failure(400, 'USAGE', 'leader must be {url, ca, token} of the head that decides')
  return {...promise, leader: {url, ca, token}}
}
