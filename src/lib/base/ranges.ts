/** `0-3,7`: numbers in ascending order, whatever order they are given in. Pure. */
export function rangesOf(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const one of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last && one === last[1] + 1) last[1] = one
    else ranges.push([one, one])
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',')
}
