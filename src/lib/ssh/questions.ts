/** One question at a time, whoever asks; and a clock that stands still while a person thinks. */
export class Questions {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `ask` when the questions before are answered. */
  async next<T>(ask: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(ask, ask)
    this.#last = turn.catch(() => {})
    return turn
  }
}

/** Calls `expire` after so many milliseconds, not counting the time while something is asked. */
export class Deadline {
  #left: number
  readonly #expire: () => void
  #timer: NodeJS.Timeout | undefined
  #since = 0
  #asking = 0
  /** True if anything was asked: then the other side may have lost patience meanwhile. */
  requested = false

  constructor(milliseconds: number, expire: () => void) {
    this.#left = milliseconds
    this.#expire = expire
    this.#run()
  }

  async pausedFor<T>(work: Promise<T>): Promise<T> {
    this.requested = true
    if (this.#asking++ === 0) {
      clearTimeout(this.#timer)
      this.#left -= Date.now() - this.#since
    }
    try {
      return await work
    } finally {
      if (--this.#asking === 0) this.#run()
    }
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#left = Number.NaN
  }

  #run(): void {
    if (Number.isNaN(this.#left)) return
    this.#since = Date.now()
    this.#timer = setTimeout(this.#expire, Math.max(0, this.#left))
  }
}
