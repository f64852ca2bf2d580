import {Failure} from './failure.ts'

export interface PaceRules {
  /** How often is looked, in milliseconds. */
  everyMs: number
  /** Bytes that have to have come between two looks, unless the body has come whole. */
  bytes: number
}

/** Ends a body that comes too slowly: it would hold memory and connections for as long as its sender likes. */
export class Pace {
  readonly #timer: NodeJS.Timeout
  #bytes = 0

  /** `isWaiting` tells whether it is the sender who is waited for. `fail` is called once, with 408. */
  constructor({everyMs, bytes}: PaceRules, isWaiting: () => boolean, fail: (failure: Failure) => void) {
    this.#timer = setInterval(() => {
      const isSlow = this.#bytes < bytes && isWaiting()
      this.#bytes = 0
      if (!isSlow) return
      this.stop()
      fail(new Failure(408, 'TIMED_OUT', `the body comes too slowly: less than ${bytes} bytes in ${everyMs / 1000} s`))
    }, everyMs)
    this.#timer.unref()
  }

  add(bytes: number): void {
    this.#bytes += bytes
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
