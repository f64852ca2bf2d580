/** So many a second on average, and no more than `burst` at once: a token bucket. Times in milliseconds, of one clock. */
export class Bucket {
  readonly #rate: number
  readonly #burst: number
  #left: number
  #at: number

  constructor(rate: number, burst: number, now: number) {
    this.#rate = rate
    this.#burst = burst
    this.#left = burst
    this.#at = now
  }

  /** Seconds until there are `wanted`; 0: now. */
  wait(wanted: number, now: number): number {
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) / 1000) * this.#rate)
    this.#at = now
    return this.#left >= wanted ? 0 : (wanted - this.#left) / this.#rate
  }

  /** Takes what was used, also what is known only afterwards: the rest is owed. */
  take(used: number): void {
    this.#left -= used
  }
}
