import {randomBytes} from 'node:crypto'
import type {FollowerStatus} from '../../types.ts'
import {Held} from '../held.ts'
import type {Tokens} from '../tokens/tokens.ts'

/** A standby asks every second; one that has not for this long is away. */
const AWAY_MS = 5000
/** Who ends a key wants to know that it has ended everywhere. Milliseconds. */
export const FOLLOW_MS = 3000

interface Seen {
  url: string | null
  at: number
  /** The version that it knows. */
  version: string | null
  inFlight: Record<string, number>
  answered: Record<string, number>
}

/** What a standby says of itself when it asks. */
export interface FollowerWord {
  url: string | null
  after: string | null
  inFlight: Record<string, number>
  /** Requests answered since it was started, by target. */
  answered: Record<string, number>
}

/**
 * The standbys of this head, and the version of what they follow: it changes with every document, key and judgement.
 * Versions of two starts of the head differ, so that nobody mistakes one for the other.
 */
export class Followers {
  readonly #epoch = randomBytes(6).toString('hex')
  readonly #tokens: Pick<Tokens, 'standbys'>
  readonly #seen = new Map<string, Seen>()
  readonly #waiting = new Held()
  #count = 0

  constructor(tokens: Pick<Tokens, 'standbys'>) {
    this.#tokens = tokens
  }

  get version(): string {
    return `${this.#epoch}.${this.#count}`
  }

  changed(): void {
    this.#count++
    this.#waiting.wake()
  }

  /** A standby has asked: it lives, and this is how far it is. */
  heard(id: string, {url, after, inFlight, answered}: FollowerWord): void {
    this.#seen.set(id, {url, at: Date.now(), version: after, inFlight, answered})
    for (const known of this.#seen.keys())
      if (!this.#tokens.standbys().some((one) => one.id === known)) this.#seen.delete(known)
  }

  /** Resolves once there is another version than this, or after `ms`. */
  async another(version: string | null, ms: number): Promise<void> {
    if (version === this.version) await this.#waiting.wait(ms)
  }

  list(): FollowerStatus[] {
    return this.#tokens.standbys().map((one) => {
      const seen = this.#seen.get(one.id)
      const isCurrent = seen !== undefined && isAlive(seen) && seen.version === this.version
      return {...one, url: seen?.url ?? null, seenAt: seen?.at ?? null, isCurrent}
    })
  }

  /** No standby that is there sends requests by what was valid before. */
  get areCurrent(): boolean {
    return this.#alive().every((seen) => seen.version === this.version)
  }

  /** The same, waited for; false where it has not come after `ms`. */
  async becomeCurrent(ms: number): Promise<boolean> {
    const until = Date.now() + ms
    while (!this.areCurrent) {
      if (Date.now() > until) return false
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return true
  }

  /** Requests that standbys have under way, by target, added to these. */
  withInFlight(own: Record<string, number>): Record<string, number> {
    const all = {...own}
    for (const {inFlight} of this.#alive())
      for (const [target, count] of Object.entries(inFlight)) all[target] = (all[target] ?? 0) + count
    return all
  }

  /** Those at one target. */
  underWay(target: string): number {
    return this.#alive().reduce((sum, {inFlight}) => sum + (inFlight[target] ?? 0), 0)
  }

  /** Requests that standbys have answered at one target, since they were started. */
  answered(target: string): number {
    return this.#alive().reduce((sum, {answered}) => sum + (answered[target] ?? 0), 0)
  }

  #alive(): Seen[] {
    const known = new Set(this.#tokens.standbys().map((one) => one.id))
    return [...this.#seen].flatMap(([id, seen]) => (known.has(id) && isAlive(seen) ? [seen] : []))
  }
}

function isAlive({at}: Seen): boolean {
  return Date.now() - at < AWAY_MS
}
