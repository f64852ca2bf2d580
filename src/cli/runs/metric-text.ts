/**
 * Newest values of the first `most` metrics, what is called a loss first and then short names; `more` is how many are
 * left. Pure.
 */
export function metricTexts(
  metrics: readonly {key: string; value: number}[],
  most: number,
): {texts: string[]; more: number} {
  const ranked = metrics.toSorted(
    (a, b) => order(a.key) - order(b.key) || a.key.length - b.key.length || a.key.localeCompare(b.key),
  )
  return {
    texts: ranked.slice(0, most).map((one) => `${one.key} ${shortNumber(one.value)}`),
    more: Math.max(0, ranked.length - most),
  }
}

/** A number with at most four digits that matter. */
export function shortNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value)
  return Math.abs(value) >= 1e6 || (Math.abs(value) < 1e-3 && value !== 0)
    ? value.toExponential(2)
    : String(Number(value.toPrecision(4)))
}

function order(name: string): number {
  return name === 'loss' ? 0 : name.includes('loss') ? 1 : 2
}
