/** Questions that are held until there is something new to answer. */
export class Held {
  readonly #waiting = new Set<() => void>()

  get size(): number {
    return this.#waiting.size
  }

  /** Until wake(), for `ms` at most, or until who asked is gone. */
  wait(ms: number, gone?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        gone?.removeEventListener('abort', done)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      gone?.addEventListener('abort', done)
      this.#waiting.add(done)
    })
  }

  wake(): void {
    for (const done of [...this.#waiting]) done()
  }
}
