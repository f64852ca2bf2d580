import {Failure} from '../failure.ts'

/** Changes at once, and then a minute: of all tokens of a user together. */
const BURST = 600
const A_MINUTE = 60

/**
 * How fast one person may change something: each change is a line of the log, and nobody who has a token may push out what
 * others did by writing more than is kept. At this pace a user alone fills less than 36 MiB a day.
 */
export class ChangePace {
  readonly #left = new Map<string, {changes: number; at: number}>()

  /** `count`: changes that belong together; what there are more of than is left is owed. Errors: 429, with when to come again. */
  take(user: string, now = Date.now(), count = 1): void {
    const known = this.#left.get(user) ?? {changes: BURST, at: now}
    const changes = Math.min(BURST, known.changes + ((now - known.at) / 60_000) * A_MINUTE)
    if (changes < 1) {
      this.#left.set(user, {changes, at: now})
      throw new Failure(429, 'REFUSED', `${user} changes more than ${A_MINUTE} things a minute at this head`, {
        retry_after: Math.ceil(((1 - changes) * 60) / A_MINUTE),
      })
    }
    this.#left.set(user, {changes: changes - count, at: now})
  }
}
