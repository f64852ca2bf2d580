/** Targets that are known, those of lately: an endpoint's servers come and go with its releases. */
const MOST_TARGETS = 1000

/** Of a target, since it was sent something first. */
interface Counts {
  inFlight: number
  served: number
  /** When it answered last, counted in answers. */
  at: number
}

/**
 * What goes through the gateway: requests under way and answered, a target; and which target is the least loaded. What a
 * request changes is a number of an entry that stays (docs/adr/0066).
 */
export class Traffic {
  readonly #targets = new Map<string, Counts>()
  #answers = 0
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
    return this.#targets.get(target)?.inFlight ?? 0
  }

  /** Requests answered, by target; of those of lately. */
  answered(): Record<string, number> {
    return Object.fromEntries(
      [...this.#targets].filter(([, {served}]) => served > 0).map(([target, {served}]) => [target, served]),
    )
  }

  begin(target: string): void {
    this.#at(target).inFlight++
  }

  end(target: string, answered: boolean): void {
    const counts = this.#at(target)
    counts.inFlight = Math.max(0, counts.inFlight - 1)
    if (!answered) return
    counts.served++
    counts.at = ++this.#answers
  }

  #at(target: string): Counts {
    const known = this.#targets.get(target)
    if (known) return known
    if (this.#targets.size >= MOST_TARGETS) this.#forgetOldest()
    const made = {inFlight: 0, served: 0, at: ++this.#answers}
    this.#targets.set(target, made)
    return made
  }

  /** One that has requests under way stays. */
  #forgetOldest(): void {
    let [oldest, first]: [string | undefined, number] = [undefined, Infinity]
    for (const [target, {inFlight, at}] of this.#targets)
      if (inFlight === 0 && at < first) [oldest, first] = [target, at]
    if (oldest !== undefined) this.#targets.delete(oldest)
  }

  /** Of the given targets; and of every target that still has requests under way. */
  counts(targets: string[]): {in_flight: Record<string, number>; served: Record<string, number>} {
    const busy = [...this.#targets].filter(([, {inFlight}]) => inFlight > 0).map(([target]) => target)
    const all = [...new Set([...targets, ...busy])]
    return {
      in_flight: Object.fromEntries(all.map((target) => [target, this.underWay(target)])),
      served: Object.fromEntries(targets.map((target) => [target, this.#targets.get(target)?.served ?? 0])),
    }
  }
}
