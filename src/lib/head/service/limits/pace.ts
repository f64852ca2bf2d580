import {Crowd, type Standing} from '../crowd.ts'
import {Failure} from '../failure.ts'

export interface PaceRules {
  /** How often is looked, in milliseconds. */
  everyMs: number
  /** Bytes that have to have come between two looks, unless the body has come whole. */
  bytes: number
}

/** Bodies that are looked at together: a timer for each would cost a small request more than its body does. */
class Watch {
  readonly #paces = new Crowd<Pace>()
  #timer: NodeJS.Timeout | undefined

  add(pace: Pace, everyMs: number): Standing<Pace> {
    this.#timer ??= setInterval(() => this.#look(), everyMs).unref()
    return this.#paces.add(pace)
  }

  delete(pace: Standing<Pace>): void {
    this.#paces.delete(pace)
  }

  #look(): void {
    for (const {at, member} of this.#paces.all()) if (at >= 0) member.look()
    if (this.#paces.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** By how often they look. */
const watches = new Map<number, Watch>()

/**
 * Ends a body that comes too slowly: it would hold memory and connections for as long as its sender likes. What begins
 * between two looks has until the one after the next.
 */
export class Pace {
  readonly #rules: PaceRules
  readonly #watch: Watch
  readonly #standing: Standing<Pace>
  readonly #isWaiting: () => boolean
  readonly #fail: (failure: Failure) => void
  #bytes = 0
  #isNew = true

  /** `isWaiting` tells whether it is the sender who is waited for. `fail` is called once, with 408. */
  constructor(rules: PaceRules, isWaiting: () => boolean, fail: (failure: Failure) => void) {
    this.#rules = rules
    this.#isWaiting = isWaiting
    this.#fail = fail
    const known = watches.get(rules.everyMs)
    this.#watch = known ?? new Watch()
    if (!known) watches.set(rules.everyMs, this.#watch)
    this.#standing = this.#watch.add(this, rules.everyMs)
  }

  add(bytes: number): void {
    this.#bytes += bytes
  }

  /** Called every `everyMs`. */
  look(): void {
    const {bytes, everyMs} = this.#rules
    if (this.#isNew) {
      this.#isNew = false
      return
    }
    const isSlow = this.#bytes < bytes && this.#isWaiting()
    this.#bytes = 0
    if (!isSlow) return
    this.stop()
    const message = `the body comes too slowly: less than ${bytes} bytes in ${everyMs / 1000} s`
    this.#fail(new Failure(408, 'TIMED_OUT', message))
  }

  stop(): void {
    this.#watch.delete(this.#standing)
  }
}
