const MOST_TARGETS = 1000

/** What goes through the gateway: requests under way and answered, a target; and whose turn it is, a release. */
export class Traffic {
  readonly #inFlight = new Map<string, number>()
  readonly #served = new Map<string, number>()
  readonly #turns = new Map<string, number>()

  /** The target whose turn it is, of those given; undefined of none. `lane`: an endpoint's release. */
  choose(lane: string, targets: string[]): string | undefined {
    if (targets.length === 0) return undefined
    const turn = this.#turns.get(lane) ?? 0
    this.#turns.delete(lane) // set again, it is the youngest: the oldest goes first
    this.#turns.set(lane, (turn + 1) % 1_000_000_007)
    if (this.#turns.size > MOST_TARGETS) this.#turns.delete(this.#turns.keys().next().value!)
    return targets[turn % targets.length]
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
