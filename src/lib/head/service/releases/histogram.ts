import type {DurationCounts} from '../../types.ts'

/** Each bucket ends where the fourth one before it ends, times 1.2: what is a fifth slower is four buckets further. */
const BUCKETS_A_FIFTH = 4
const RATIO = 1.2 ** (1 / BUCKETS_A_FIFTH)
/** Milliseconds at which the first bucket ends. */
const FIRST_MS = 0.1
/** The last one ends at 16 minutes, and has all that is longer. */
const COUNT = 354

/** Durations in buckets that grow by 4.7 % each: a quantile is that exact, however many there are. */
export class Histogram {
  readonly #counts = new Uint32Array(COUNT)
  #total = 0
  #sum = 0

  get total(): number {
    return this.#total
  }

  /** Milliseconds, all together. */
  get sum(): number {
    return this.#sum
  }

  add(ms: number): void {
    const bucket = bucketOf(ms)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#total++
    this.#sum += ms
  }

  /** The bucket below whose end at least this part (0 to 1) of all lies; undefined without any. */
  quantileBucket(part: number): number | undefined {
    if (this.#total === 0) return undefined
    let left = part * this.#total
    return this.#counts.findIndex((count) => (left -= count) <= 0)
  }

  /** Milliseconds within which that part was done; null without any. */
  quantile(part: number): number | null {
    const bucket = this.quantileBucket(part)
    return bucket === undefined ? null : rounded(bucket)
  }

  /** Buckets that have any: milliseconds at which each ends, and how many; two lists subtract to what came in between. */
  counts(): DurationCounts {
    return [...this.#counts].flatMap((count, at): DurationCounts => (count === 0 ? [] : [[rounded(at), count]]))
  }

  /** How many lie above the end of a bucket. */
  above(bucket: number): number {
    let count = 0
    for (let at = bucket + 1; at < COUNT; at++) count += this.#counts[at] ?? 0
    return count
  }

  /** How many were done within so many milliseconds, as exactly as buckets are. */
  within(ms: number): number {
    return this.#total - this.above(bucketOf(ms))
  }
}

/** The bucket that a fifth more, and at least `floorMs` more, than the end of this one falls into. */
export function slowerBucket(bucket: number, floorMs: number): number {
  return Math.min(COUNT - 1, Math.max(bucket + BUCKETS_A_FIFTH, bucketOf(endOf(bucket) + floorMs)))
}

function rounded(bucket: number): number {
  return Number(endOf(bucket).toPrecision(3))
}

/** Milliseconds. */
export function endOf(bucket: number): number {
  return FIRST_MS * RATIO ** bucket
}

function bucketOf(ms: number): number {
  const exact = Math.log(Math.max(ms, FIRST_MS) / FIRST_MS) / Math.log(RATIO)
  return Math.min(COUNT - 1, Math.ceil(exact - 1e-9)) // the end of a bucket is in it, whatever is rounded
}
