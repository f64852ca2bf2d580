import type {RankReported} from '../protocol/index.ts'
import type {SeenPart} from './view.ts'

/** Rates are of so long a time at least, where steps are not longer. Milliseconds. */
const WINDOW_MS = 10_000

interface Seen {
  at: number
  attempt: number
  reported: RankReported
}

/** Remembers what ranks told not long ago, so that rates are those of now and not the mean since the beginning. */
export class RecentSteps {
  readonly #seen = new Map<string, Seen[]>()

  /** The part with `recent`. `at` in milliseconds, growing. */
  take(part: SeenPart, at: number): SeenPart {
    const recent: NonNullable<SeenPart['recent']> = {}
    for (const [rank, reported] of Object.entries(part.ranks)) {
      const before = reported && this.#before(`${part.node}:${rank}`, {at, attempt: part.attempt, reported})
      if (reported && before)
        recent[rank] = {steps: reported[0] - before[0], seconds: reported[5] - before[5], wait: reported[4] - before[4]}
    }
    return {...part, recent}
  }

  /** The newest that is a whole window old and of another step, else the oldest of this attempt. */
  #before(key: string, now: Seen): RankReported | undefined {
    const known = (this.#seen.get(key) ?? []).filter((one) => one.attempt === now.attempt)
    const old = known.findLastIndex((one) => now.at - one.at >= WINDOW_MS && one.reported[0] < now.reported[0])
    const kept = known.slice(Math.max(0, old))
    this.#seen.set(key, [...kept, now])
    return kept[0] && kept[0].reported[0] < now.reported[0] ? kept[0].reported : undefined
  }
}
