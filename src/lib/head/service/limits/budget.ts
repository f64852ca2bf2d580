import {Failure} from '../failure.ts'

/** Seconds after which somebody who was refused may try again. */
const AGAIN_SECONDS = 2
/** Callers that are known; with more, those that hold nothing are forgotten. */
const MOST_IDLE = 1000

export interface BudgetRules {
  /** Bytes that all may hold together. */
  limit: number
  /** The part of it that one caller may hold, 0 to 1. */
  share: number
  /**
   * Whether the oldest holder may go on over the limit: without it, what is larger than the limit never gets through,
   * and what shares it never ends.
   */
  oldestGoesOn: boolean
}

/** What one request holds of a budget. */
export interface Hold {
  /** Throws 503 where the budget is used up, 429 where the caller's share is; what was held before stays held. */
  add(bytes: number): void
  /** Gives all of it back; also more than once. */
  release(): void
}

/** Bytes that the requests under way may hold, all together: many that never end must not take the head's memory. */
export class Budget {
  readonly #rules: BudgetRules
  readonly #what: string
  /** The oldest first; where that is asked for. */
  readonly #holders = new Set<Hold>()
  /** Bytes by caller; entries stay, as those that come and go with each request cost more (docs/adr/0066). */
  readonly #callers = new Map<string, {bytes: number}>()
  #used = 0

  constructor(what: string, rules: BudgetRules) {
    this.#what = what
    this.#rules = rules
  }

  get used(): number {
    return this.#used
  }

  /** `caller` shares its part with all requests of the same name; one without a name has no bound but the limit. */
  open(caller: string | undefined): Hold {
    let mine = 0
    const hold: Hold = {
      add: (bytes) => {
        this.#require(hold, caller, bytes)
        mine += bytes
        if (this.#rules.oldestGoesOn) this.#holders.add(hold)
        this.#count(caller, bytes)
      },
      release: () => {
        this.#count(caller, -mine)
        mine = 0
        this.#holders.delete(hold)
      },
    }
    return hold
  }

  #require(hold: Hold, caller: string | undefined, bytes: number): void {
    const {limit, share, oldestGoesOn} = this.#rules
    const [oldest] = this.#holders
    if (oldestGoesOn && (oldest === undefined || oldest === hold)) return
    const used = caller === undefined ? 0 : (this.#callers.get(caller)?.bytes ?? 0)
    const more = {retry_after: AGAIN_SECONDS}
    if (this.#used + bytes > limit)
      throw new Failure(
        503,
        'HEAD_FAILED',
        `the head has no more memory for ${this.#what} now; try again in a moment`,
        more,
      )
    if (used + bytes > limit * share)
      throw new Failure(
        429,
        'HEAD_FAILED',
        `the requests with this token hold too much of the head's memory for ${this.#what}; try again when some have ended`,
        more,
      )
  }

  #count(caller: string | undefined, bytes: number): void {
    this.#used += bytes
    if (caller === undefined) return
    const known = this.#callers.get(caller)
    if (known) known.bytes += bytes
    else this.#enter(caller, bytes)
  }

  #enter(caller: string, bytes: number): void {
    if (this.#callers.size >= MOST_IDLE)
      for (const [name, one] of this.#callers) if (one.bytes === 0) this.#callers.delete(name)
    this.#callers.set(caller, {bytes})
  }
}
