import {Failure} from '../failure.ts'
import {Bucket} from '../usage/bucket.ts'

/** Changes at once, and then a minute: of all tokens of a user together. */
const BURST = 600
const A_MINUTE = 60

/**
 * How fast one person may change something: each change is a line of the log, and nobody who has a token may push out what
 * others did by writing more than is kept. At this pace a user alone fills less than 36 MiB a day.
 */
export class ChangePace {
  readonly #users = new Map<string, Bucket>()

  /** `count`: changes that belong together; what there are more of than is left is owed. Errors: 429, with when to come again. */
  take(user: string, now = Date.now(), count = 1): void {
    const bucket = this.#users.get(user) ?? new Bucket(A_MINUTE / 60, BURST, now)
    this.#users.set(user, bucket)
    const wait = bucket.wait(1, now)
    if (wait > 0)
      throw new Failure(429, 'REFUSED', `${user} changes more than ${A_MINUTE} things a minute at this head`, {
        retry_after: Math.ceil(wait),
      })
    bucket.take(count)
  }
}
