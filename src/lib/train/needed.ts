/**
 * The fewest of those that make room, so that `fits` without them: they are tried in their order, and whoever was not
 * needed after all stays, the dearest first. None where it does not fit without all of them. Pure.
 */
export function needed<T>(ordered: readonly T[], fits: (without: readonly T[]) => boolean): T[] {
  if (fits([])) return []
  const count = ordered.findIndex((_one, at) => fits(ordered.slice(0, at + 1))) + 1
  if (count === 0) return []
  return ordered
    .slice(0, count)
    .toReversed()
    .reduce(
      (left, one) => {
        const without = left.filter((other) => other !== one)
        return fits(without) ? without : left
      },
      ordered.slice(0, count),
    )
}
