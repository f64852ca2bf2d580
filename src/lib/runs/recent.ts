import type {RankTold} from '../protocol/index.ts'
import type {SeenPart} from './view.ts'

/** Rates are of so long a time at least, where steps are not longer. Milliseconds. */
const WINDOW_MS = 10_000

interface Seen {
  at: number
  attempt: number
  told: RankTold
}

/** Remembers what ranks told not long ago, so that rates are those of now and not the mean since the beginning. */
export class RecentSteps {
  readonly #seen = new Map<string, Seen[]>()

  /** The part with `recent`. `at` in milliseconds, growing. */
  take(part: SeenPart, at: number): SeenPart {
    const recent: NonNullable<SeenPart['recent']> = {}
    for (const [rank, told] of Object.entries(part.ranks)) {
      const before = told && this.#before(`${part.node}:${rank}`, {at, attempt: part.attempt, told})
      if (told && before) recent[rank] = {steps: told[0] - before[0], seconds: told[5] - before[5], wait: told[4] - before[4]}
    }
    return {...part, recent}
  }

  /** The newest that is a whole window old and of another step, else the oldest of this attempt. */
  #before(key: string, now: Seen): RankTold | undefined {
    const known = (this.#seen.get(key) ?? []).filter((one) => one.attempt === now.attempt)
    const old = known.findLastIndex((one) => now.at - one.at >= WINDOW_MS && one.told[0] < now.told[0])
    const kept = known.slice(Math.max(0, old))
    this.#seen.set(key, [...kept, now])
    return kept[0] && kept[0].told[0] < now.told[0] ? kept[0].told : undefined
  }
}
