import {describe, expect, test} from 'vitest'
import {worse, type Sample} from '../../../../../src/lib/head/service/releases/compare.ts'
import {fisher} from '../../../../../src/lib/head/service/releases/fisher.ts'
import {endOf, Histogram, slowerBucket} from '../../../../../src/lib/head/service/releases/histogram.ts'
import {Tally} from '../../../../../src/lib/head/service/releases/measures.ts'

describe("Fisher's exact test", () => {
  // By counting: of all ways to choose which requests are the canary's, those that are as extreme.
  test.each<[fresh: [number, number], old: [number, number], p: number]>([
    [[3, 4], [1, 4], 17 / 70], // Fisher's own: the lady tasting tea
    [[4, 4], [0, 4], 1 / 70],
    [[5, 5], [0, 45], 1 / 2_118_760],
    [[0, 10], [0, 90], 1],
    [[1, 10], [9, 90], 1],
    [[0, 0], [3, 90], 1],
  ])('of %j against %j gives %d', (fresh, old, p) => {
    const of = ([count, all]: [number, number]): {count: number; of: number} => ({count, of: all})
    expect(fisher(of(old), of(fresh)) / p).toBeCloseTo(1, 9)
  })

  test('adds up to one over everything that can be seen, however large the numbers', () => {
    // The chance of at least k minus that of at least k + 1 is that of exactly k.
    const at = (count: number): number => fisher({count: 6000 - count, of: 60_000}, {count, of: 6_000})
    expect(at(700)).toBeLessThan(at(650))
    expect(at(650)).toBeLessThan(1e-3)
    expect(at(560)).toBeGreaterThan(0.1)
    expect(at(560)).toBeLessThan(0.5)
  })
})

describe('a histogram', () => {
  test('tells quantiles to a bucket, and what is a fifth slower is four further', () => {
    const histogram = new Histogram()
    for (let ms = 1; ms <= 1000; ms++) histogram.add(ms)
    for (const [part, ms] of [
      [0.5, 500],
      [0.95, 950],
      [0.99, 990],
    ] as const) {
      const said = histogram.quantile(part)!
      expect(said).toBeGreaterThanOrEqual(ms * 0.995)
      expect(said).toBeLessThan(ms * 1.055)
    }
    const bucket = histogram.quantileBucket(0.95)!
    expect(endOf(slowerBucket(bucket, 0)) / endOf(bucket)).toBeCloseTo(1.2, 9)
    expect(endOf(slowerBucket(0, 5))).toBeGreaterThanOrEqual(5)
    expect(histogram.within(1e9)).toBe(1000)
  })

  test('takes what is shorter or longer than anything, and has no quantile of nothing', () => {
    const histogram = new Histogram()
    expect([histogram.quantile(0.5), histogram.quantileBucket(1)]).toEqual([null, undefined])
    for (const ms of [0, -1, 1e12]) histogram.add(ms)
    expect([histogram.total, histogram.quantile(0.1)]).toEqual([3, 0.1])
    expect(histogram.quantile(1)).toBeGreaterThan(900_000)
  })
})

/** Numbers that look drawn, the same each time (a linear congruential generator, Numerical Recipes). */
function draws(seed: number): () => number {
  let state = seed
  return () => (state = (1_664_525 * state + 1_013_904_223) >>> 0) / 2 ** 32
}

/** Milliseconds as model servers have them: most alike, some much longer. */
function milliseconds(random: () => number, times = 1): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return times * 20 * Math.exp(0.5 * normal)
}

/**
 * A rollout at 10 %, looked at as the judge does: at 5 requests of the canary, and at each quarter more, up to `most`.
 * Gives at how many it is found worse.
 */
function foundWorse(
  seed: number,
  most: number,
  add: (tally: Tally, random: () => number) => void,
): [number, string] | undefined {
  const random = draws(seed)
  const old: Sample = {release: 'r1', tally: new Tally(), overdue: 0}
  const fresh: Sample = {release: 'r2', tally: new Tally(), overdue: 0}
  for (let look = 1, next = 5; fresh.tally.requests < most;) {
    if (random() < 0.1) add(fresh.tally, random)
    else old.tally.add(random() < 0.01 ? 'failed' : 'answered', milliseconds(random))
    if (fresh.tally.requests < next) continue
    const why = worse(old, fresh, look++)
    if (why !== undefined) return [fresh.tally.requests, why]
    next = Math.ceil(next * 1.25)
  }
  return undefined
}

describe('a release', () => {
  test('that is as good is hardly ever found worse, however often one looks', () => {
    const rounds = Array.from({length: 200}, (_, seed) =>
      foundWorse(seed, 500, (tally, random) =>
        tally.add(random() < 0.01 ? 'failed' : 'answered', milliseconds(random)),
      ),
    )
    // Less than one in a hundred is promised; seeds are fixed.
    expect(rounds.filter(Boolean)).toHaveLength(0)
  })

  test.each<[what: string, most: number, (tally: Tally, random: () => number) => void, RegExp]>([
    [
      'fails',
      10,
      (tally) => tally.add('failed', 1),
      /r2 is worse: (\d+) of \1 requests failed, against \d+ of \d+ of r1/,
    ],
    [
      'fails one in five',
      100,
      (tally, random) => tally.add(random() < 0.2 ? 'failed' : 'answered', milliseconds(random)),
      /requests failed/,
    ],
    ['refuses', 10, (tally) => tally.add('refused', 1), /were refused/],
    ['is ten times as slow', 15, (tally, random) => tally.add('answered', milliseconds(random, 10)), /took more than/],
    ['is twice as slow', 150, (tally, random) => tally.add('answered', milliseconds(random, 2)), /took more than/],
    [
      'is slow for one in five',
      200,
      (tally, random) => tally.add('answered', milliseconds(random, random() < 0.2 ? 10 : 1)),
      /took more than \d+ ms, where 95 % of r1 stay within \d+ ms/,
    ],
  ])('that %s is found worse within %d of its requests', (_what, most, add, sentence) => {
    for (let seed = 1; seed <= 20; seed++) expect(foundWorse(seed, most + 1, add)?.[1]).toMatch(sentence)
  })

  test('that is a tenth slower, or slower by nothing that one would notice, is as good', () => {
    for (let seed = 1; seed <= 20; seed++) {
      expect(
        foundWorse(seed, 1000, (tally, random) =>
          tally.add(random() < 0.01 ? 'failed' : 'answered', milliseconds(random, 1.1)),
        ),
      ).toBeUndefined()
    }
    const sample = (release: string, ms: number): Sample => {
      const tally = new Tally()
      for (let count = 0; count < 1000; count++) tally.add('answered', ms)
      return {release, tally, overdue: 0}
    }
    expect(worse(sample('r1', 1), sample('r2', 4), 1)).toBeUndefined()
    expect(worse(sample('r1', 1), sample('r2', 9), 1)).toContain('took more than')
  })
})
