import {linkBetween, linkRank, type Link, type Topology} from '../topology/index.ts'
import type {Group, GroupScore} from './types.ts'

/** All groups of up to so many GPUs are looked at: 70 at most for 4 of 8. */
const EXHAUSTIVE = 8

/** Links between the members: the worst, and the sum of their ranks. */
export function scoreGroup(topology: Topology, members: number[]): GroupScore {
  let worst = Infinity
  let sum = 0
  let link: Link | null = null
  for (const [at, a] of members.entries()) {
    for (const b of members.slice(at + 1)) {
      const between = linkBetween(topology, a, b) ?? {kind: 'unknown' as const}
      const rank = linkRank(between)
      sum += rank
      if (rank < worst) [worst, link] = [rank, between]
    }
  }
  return {worst, sum, link}
}

/** Below 0 where `a` is the better one. */
export function compareScores(a: GroupScore, b: GroupScore): number {
  return a.worst === b.worst ? b.sum - a.sum : b.worst - a.worst
}

/**
 * The best `size` of the free GPUs: the worst link decides, because a ring of all goes at the pace of its slowest part;
 * then the sum; of equals the group that is least tied to what stays free, so that good pairs are left whole; then the
 * lowest numbers. Null where too few are free.
 *
 * Of up to 8 free GPUs every group is looked at. Of more (machines of 16 have 12870 groups of 8) a group grows from
 * every GPU, each time by the one that makes the best of it: in machines built of equal islands that finds an island,
 * but nothing promises the best then.
 */
export function bestGroup(topology: Topology, free: number[], size: number): Group | null {
  if (size > free.length || size < 1) return null
  const sorted = free.toSorted((a, b) => a - b)
  const groups =
    sorted.length <= EXHAUSTIVE ? combinations(sorted, size) : sorted.map((seed) => grow(topology, sorted, seed, size))
  let best: (Group & {ties: number}) | undefined
  for (const members of groups) {
    const found = {members, score: scoreGroup(topology, members), ties: tiesOf(topology, members, sorted)}
    if (best === undefined || (compareScores(found.score, best.score) || found.ties - best.ties) < 0) best = found
  }
  return best === undefined ? null : {members: best.members, score: best.score}
}

/** What is cut: the ranks of the links between the group and the free GPUs that it leaves. */
function tiesOf(topology: Topology, members: number[], free: number[]): number {
  const left = free.filter((one) => !members.includes(one))
  return members.reduce(
    (sum, a) => sum + left.reduce((part, b) => part + linkRank(linkBetween(topology, a, b) ?? {kind: 'unknown'}), 0),
    0,
  )
}

function grow(topology: Topology, free: number[], seed: number, size: number): number[] {
  const members = [seed]
  while (members.length < size) {
    const [next] = free
      .filter((one) => !members.includes(one))
      .map((one) => ({one, score: scoreGroup(topology, [...members, one])}))
      .toSorted((a, b) => compareScores(a.score, b.score) || a.one - b.one)
    members.push((next as {one: number}).one)
  }
  return members.toSorted((a, b) => a - b)
}

/** In lexicographic order. */
export function combinations(values: number[], size: number): number[][] {
  if (size === 0) return [[]]
  return values.flatMap((value, index) =>
    combinations(values.slice(index + 1), size - 1).map((rest) => [value, ...rest]),
  )
}
