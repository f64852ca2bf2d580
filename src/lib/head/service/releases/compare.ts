import {count} from '../../../base/index.ts'
import {fisher, type Part} from './fisher.ts'
import {endOf, slowerBucket} from './histogram.ts'
import type {Tally} from './measures.ts'

/** The chance, over all looks of a rollout together, that a release which is as good is taken for a worse one. */
export const ERROR_CHANCE = 0.01
/** What is slower by less than this means nothing to anybody, whatever the statistics say. Milliseconds. */
const FLOOR_MS = 5
/** Of the requests of the old release so many are faster than where the new one's are looked at. */
const QUANTILES = [0.5, 0.95]
/** Failures, refusals and the quantiles: each look makes so many tests. */
const TESTS = 2 + QUANTILES.length

/** What one release did with its part of the same traffic. */
export interface Sample {
  release: string
  tally: Tally
  /** Requests under way for longer than any that the old release has answered. */
  overdue: number
}

/**
 * Whether the new release is worse than the old one, as a sentence; undefined where nothing says so. Each part (of
 * failed requests, of refused ones, of those slower than a quantile of the old release's and a fifth more) is compared
 * by Fisher's exact test. The judge looks again and again at numbers that grow, so the evidence that look `look` (from
 * 1) asks for gets stronger: its tests have 1 / (look · (look + 1)) of ERROR_CHANCE together, and all looks there may
 * ever be have no more than the whole (Bonferroni's bound).
 */
export function worse(old: Sample, fresh: Sample, look: number): string | undefined {
  const limit = ERROR_CHANCE / (look * (look + 1)) / TESTS
  const outcomes = (['failed', 'refused'] as const).map((outcome) => {
    const part = ({tally}: Sample): Part => ({count: tally.outcomes[outcome], of: tally.requests})
    return {oldPart: part(old), freshPart: part(fresh), what: `were ${outcome}`.replace('were failed', 'failed')}
  })
  const slower = QUANTILES.flatMap((quantile) => {
    const bucket = old.tally.latencies.quantileBucket(quantile)
    if (bucket === undefined) return []
    const later = slowerBucket(bucket, FLOOR_MS)
    const part = ({tally: {latencies}, overdue}: Sample, above: number): Part => ({
      count: latencies.above(above) + overdue,
      of: latencies.total + overdue,
    })
    const [fast, slow] = [bucket, later].map((at) => `${Number(endOf(at).toPrecision(2))} ms`)
    const what = `took more than ${slow}, where ${quantile * 100} % of ${old.release} stay within ${fast}`
    return [{oldPart: part(old, bucket), freshPart: part(fresh, later), what}]
  })
  const tests = [...outcomes, ...slower].map((one) => ({...one, p: fisher(one.oldPart, one.freshPart)}))
  const [worst] = tests.sort((a, b) => a.p - b.p)
  if (!worst || worst.p >= limit) return undefined
  const {oldPart, freshPart, what, p} = worst
  const against = what.startsWith('took') ? '' : `, against ${oldPart.count} of ${oldPart.of} of ${old.release}`
  return `${fresh.release} is worse: ${freshPart.count} of ${count(freshPart.of, 'request')} ${what}${against} (p = ${p.toPrecision(1)})`
}
