import type {ReleaseFigures} from '../../types.ts'
import {Crowd} from '../crowd.ts'
import type {TokenUsage} from '../usage/answer-usage.ts'
import {BatchSizes} from './batch-sizes.ts'
import {Histogram} from './histogram.ts'

/** How a request ended, as ReleaseFigures has it. */
export type Outcome = 'answered' | 'failed' | 'refused' | 'abandoned'

/** The active one, one beside it, and those that their last requests still run at. */
const MOST_RELEASES = 4

/** Requests of one release that have ended. */
export class Tally {
  readonly outcomes: Record<Outcome, number> = {answered: 0, failed: 0, refused: 0, abandoned: 0}
  /** Of those answered, and of those whose reader went away: they took at least that long. */
  readonly latencies = new Histogram()

  add(outcome: Outcome, ms: number): void {
    this.outcomes[outcome]++
    if (outcome === 'answered' || outcome === 'abandoned') this.latencies.add(ms)
  }

  get requests(): number {
    const {answered, failed, refused, abandoned} = this.outcomes
    return answered + failed + refused + abandoned
  }
}

export interface Measured {
  /** Of answers that tell them, since the head was started. */
  tokens: TokenUsage
  /** Until the first piece of a stream, in milliseconds. */
  first: Histogram
  /** Rows of the requests that were answered, where they say how many. */
  batches: BatchSizes
  /** Since the head was started. */
  total: Tally
  /** Since the last newWindow. */
  window: Tally
  /** When each request under way began, by performance.now(). */
  underWay: Crowd<{since: number}>
}

/** What the gateway counts, by endpoint and release. Bounded: an endpoint's oldest releases are forgotten. */
export class Measures {
  readonly #endpoints = new Map<string, Map<string, Measured>>()
  /** By endpoint: the last one of its releases. */
  readonly #youngest = new Map<string, string>()

  /** A request that begins; what it gives is called once, when it has ended. */
  begin(endpoint: string, release: string): (outcome: Outcome) => void {
    const measured = this.#at(endpoint, release)
    const mine = {since: performance.now()}
    const standing = measured.underWay.add(mine)
    return (outcome) => {
      if (!measured.underWay.delete(standing)) return
      const ms = performance.now() - mine.since
      measured.total.add(outcome, ms)
      measured.window.add(outcome, ms)
    }
  }

  /** What an answer took; `firstMs`: until its first piece, of a stream. */
  use(endpoint: string, release: string, used: TokenUsage, firstMs: number | undefined): void {
    const {tokens, first} = this.#at(endpoint, release)
    tokens.prompt += used.prompt
    tokens.completion += used.completion
    if (firstMs !== undefined) first.add(firstMs)
  }

  /** A request with so many rows was answered. */
  batch(endpoint: string, release: string, rows: number): void {
    this.#at(endpoint, release).batches.add(rows)
  }

  /** By release; empty where nothing was asked yet. */
  of(endpoint: string): ReadonlyMap<string, Measured> {
    return this.#endpoints.get(endpoint) ?? new Map<string, Measured>()
  }

  /** Windows of all releases of an endpoint begin anew, together: they are of the same traffic. */
  newWindow(endpoint: string): void {
    for (const measured of this.of(endpoint).values()) measured.window = new Tally()
  }

  forget(endpoint: string): void {
    this.#endpoints.delete(endpoint)
    this.#youngest.delete(endpoint)
  }

  figures(endpoint: string): Record<string, ReleaseFigures> {
    return Object.fromEntries(
      [...this.of(endpoint)].map(([release, {total, underWay, tokens, first, batches}]) => {
        const {failed, refused, abandoned} = total.outcomes
        const [p50 = null, p95 = null, p99 = null] = [0.5, 0.95, 0.99].map((part) => total.latencies.quantile(part))
        const counts = {requests: total.requests, failed, refused, abandoned, inFlight: underWay.size}
        const [firstP50, firstP99] = [first.quantile(0.5), first.quantile(0.99)]
        const isTold = tokens.prompt + tokens.completion > 0
        return [
          release,
          {
            ...counts,
            ...{p50, p95, p99},
            ...(isTold && {tokens: {...tokens, firstP50, firstP99}}),
            ...(batches.requests > 0 && {batch: {mean: batches.mean, most: batches.most}}),
          },
        ]
      }),
    )
  }

  #at(endpoint: string, release: string): Measured {
    const releases = this.#endpoints.get(endpoint) ?? new Map<string, Measured>()
    this.#endpoints.set(endpoint, releases)
    const measured = releases.get(release) ?? newMeasured()
    if (this.#youngest.get(endpoint) === release) return measured
    this.#youngest.set(endpoint, release)
    releases.delete(release) // set again, it is the youngest: the oldest goes first
    releases.set(release, measured)
    if (releases.size > MOST_RELEASES) releases.delete(releases.keys().next().value!)
    return measured
  }
}

function newMeasured(): Measured {
  const tokens = {prompt: 0, completion: 0}
  const [first, batches] = [new Histogram(), new BatchSizes()]
  return {total: new Tally(), window: new Tally(), underWay: new Crowd(), tokens, first, batches}
}
