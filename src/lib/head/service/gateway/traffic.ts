const MOST_TARGETS = 1000

/** What goes through the gateway: requests under way and answered, a target; and which target is the least loaded. */
export class Traffic {
  readonly #inFlight = new Map<string, number>()
  readonly #served = new Map<string, number>()
  /** The last one of those. */
  #youngest: string | undefined
  #turn = 0

  /**
   * Of those given the one with the least under way; where several have it they take turns. Undefined of none. It is
   * exact, because nobody else sends there: the less loaded of two at random is for many who do not know of each other.
   */
  choose(targets: string[]): string | undefined {
    if (targets.length <= 1) return targets[0]
    const first = this.#turn++ % targets.length
    let [best, least] = ['', Infinity]
    for (let index = 0; index < targets.length; index++) {
      const target = targets[(first + index) % targets.length]!
      const underWay = this.underWay(target)
      if (underWay < least) [best, least] = [target, underWay]
    }
    return best
  }

  /** Requests under way there. */
  underWay(target: string): number {
    return this.#inFlight.get(target) ?? 0
  }

  /** Requests answered, by target; of those of lately. */
  answered(): Record<string, number> {
    return Object.fromEntries(this.#served)
  }

  begin(target: string): void {
    this.#inFlight.set(target, (this.#inFlight.get(target) ?? 0) + 1)
  }

  end(target: string, answered: boolean): void {
    const left = (this.#inFlight.get(target) ?? 1) - 1
    if (left > 0) this.#inFlight.set(target, left)
    else this.#inFlight.delete(target)
    if (!answered) return
    const count = (this.#served.get(target) ?? 0) + 1
    if (target === this.#youngest) return void this.#served.set(target, count)
    this.#youngest = target
    this.#served.delete(target) // set again, it is the youngest: the oldest goes first
    this.#served.set(target, count)
    if (this.#served.size > MOST_TARGETS) this.#served.delete(this.#served.keys().next().value!)
  }

  /** Of the given targets; and of every target that still has requests under way. */
  counts(targets: string[]): {in_flight: Record<string, number>; served: Record<string, number>} {
    const all = [...new Set([...targets, ...this.#inFlight.keys()])]
    return {
      in_flight: Object.fromEntries(all.map((target) => [target, this.#inFlight.get(target) ?? 0])),
      served: Object.fromEntries(targets.map((target) => [target, this.#served.get(target) ?? 0])),
    }
  }
}
