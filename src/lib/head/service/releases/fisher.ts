/** Of `of` requests so many had what is counted. */
export interface Part {
  count: number
  of: number
}

/**
 * Fisher's exact test, one-sided: how likely it is to see as many in `fresh` or more, if both had the same chance. 1
 * where `fresh` has no larger part. Exact also for a few requests, where a normal approximation is not (R. A. Fisher,
 * The Design of Experiments, 1935; the tail of the hypergeometric distribution).
 */
export function fisher(old: Part, fresh: Part): number {
  if (fresh.of === 0 || old.of === 0 || fresh.count * old.of <= old.count * fresh.of) return 1
  const all = old.of + fresh.of
  const marked = old.count + fresh.count
  const most = Math.min(marked, fresh.of)
  // The chance of exactly as many, then each next one by its ratio to the one before.
  let term = Math.exp(
    choose(marked, fresh.count) + choose(all - marked, fresh.of - fresh.count) - choose(all, fresh.of),
  )
  let sum = term
  for (let count = fresh.count; count < most && term > sum * 1e-16; count++) {
    term *= ((marked - count) * (fresh.of - count)) / ((count + 1) * (all - marked - fresh.of + count + 1))
    sum += term
  }
  return Math.min(1, sum)
}

/** Natural logarithm of the binomial coefficient. */
function choose(from: number, many: number): number {
  return logFactorial(from) - logFactorial(many) - logFactorial(from - many)
}

const SMALL: number[] = [0]
for (let n = 1; n < 32; n++) SMALL.push((SMALL[n - 1] ?? 0) + Math.log(n))

/** Stirling's series: its next term is below 1e-11 from 32 on. */
function logFactorial(n: number): number {
  const known = SMALL[n]
  if (known !== undefined) return known
  const x = n + 1
  return (
    (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5)
  )
}
