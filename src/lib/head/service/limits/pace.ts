import {Failure} from '../failure.ts'

export interface PaceRules {
  /** How often is looked, in milliseconds. */
  everyMs: number
  /** Bytes that have to have come between two looks, unless the body has come whole. */
  bytes: number
}

/** Bodies that are looked at together: a timer for each would cost a small request more than its body does. */
class Watch {
  readonly #paces = new Set<Pace>()
  #timer: NodeJS.Timeout | undefined

  add(pace: Pace, everyMs: number): void {
    this.#paces.add(pace)
    this.#timer ??= setInterval(() => this.#look(), everyMs).unref()
  }

  delete(pace: Pace): void {
    this.#paces.delete(pace)
  }

  #look(): void {
    for (const pace of this.#paces) pace.look()
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
    this.#watch.add(this, rules.everyMs)
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
    this.#watch.delete(this)
  }
}
