import {join} from 'node:path'
import {readDurable, Turns, writeDurably} from '../files/durable.ts'
import {Failure} from '../failure.ts'

const LONGEST_TTL_SECONDS = 7 * 24 * 3600

interface Lock {
  owner: string
  fence: number
  since: number
  expiresAt: number
}

interface LockFile {
  /** Grows with every lock that is taken: who holds a smaller fence has lost it. */
  lastFence: number
  locks: Record<string, Lock>
}

/** Named locks that end by themselves, each with a fence number. */
export class Locks {
  readonly #file: string
  #state: LockFile
  readonly #turns = new Turns()

  private constructor(file: string, state: LockFile) {
    this.#file = file
    this.#state = state
  }

  static async open(folder: string): Promise<Locks> {
    const file = join(folder, 'locks.json')
    return new Locks(file, await readDurable<LockFile>('head.locks', file, {lastFence: 0, locks: {}}))
  }

  /** Takes a lock, or with its fence renews it. 409 LOCKED with holder and since where another has it. */
  put(
    name: string,
    request: {owner?: unknown; ttl_seconds?: unknown; fence?: unknown},
  ): Promise<{fence: number; expires_at: number}> {
    const {owner, ttl_seconds: ttl, fence} = request
    if (typeof owner !== 'string' || owner === '' || typeof ttl !== 'number' || !(ttl > 0)) {
      return Promise.reject(new Failure(400, 'USAGE', 'a lock needs an owner and ttl_seconds'))
    }
    return this.#turns.take(async () => {
      const now = Date.now()
      const held = this.#live(name, now)
      if (held && held.fence !== fence) {
        throw new Failure(
          409,
          'LOCKED',
          `${name} is locked by ${held.owner} since ${new Date(held.since).toISOString()}`,
          {holder: held.owner, since: held.since, expires_at: held.expiresAt},
        )
      }
      if (!held && fence !== undefined)
        throw new Failure(409, 'LOCKED', `the lock ${name} was lost: it was not renewed in time`, {
          holder: null,
          since: null,
        })
      const lock = {
        owner,
        fence: held?.fence ?? this.#state.lastFence + 1,
        since: held?.since ?? now,
        expiresAt: now + Math.min(ttl, LONGEST_TTL_SECONDS) * 1000,
      }
      await this.#save({
        lastFence: Math.max(this.#state.lastFence, lock.fence),
        locks: {...this.#state.locks, [name]: lock},
      })
      return {fence: lock.fence, expires_at: lock.expiresAt}
    })
  }

  /** Gives a lock back; 409 where somebody else has it by now, nothing where nobody has. */
  remove(name: string, fence: unknown): Promise<void> {
    return this.#turns.take(async () => {
      const held = this.#live(name, Date.now())
      if (!held) return
      if (held.fence !== fence)
        throw new Failure(409, 'LOCKED', `${name} is locked by ${held.owner}`, {holder: held.owner, since: held.since})
      const {[name]: _gone, ...locks} = this.#state.locks
      await this.#save({...this.#state, locks})
    })
  }

  list(): ({name: string} & Lock)[] {
    const now = Date.now()
    return Object.entries(this.#state.locks).flatMap(([name, lock]) => (lock.expiresAt > now ? [{name, ...lock}] : []))
  }

  #live(name: string, now: number): Lock | undefined {
    const lock = Object.hasOwn(this.#state.locks, name) ? this.#state.locks[name] : undefined
    return lock && lock.expiresAt > now ? lock : undefined
  }

  /** What could not be written is not so: nobody was told of it. */
  async #save({lastFence, locks}: LockFile): Promise<void> {
    const now = Date.now()
    const next = {
      lastFence,
      locks: Object.fromEntries(Object.entries(locks).filter(([, lock]) => lock.expiresAt > now)),
    }
    await writeDurably('head.locks', this.#file, next)
    this.#state = next
  }
}
