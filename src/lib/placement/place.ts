import type {Topology} from '../topology/index.ts'
import {bindRanks} from './bind.ts'
import {freeGpus, isTaken} from './free.ts'
import {bestGroup, compareScores} from './group.ts'
import {LeasePool} from './lease.ts'
import {chosenText, lackText, leasedText, notNeededText, WOULD_DO} from './text.ts'
import type {Candidate, Group, LeasedGpu, NodeReason, PlacementRequest, PlacementResult} from './types.ts'

/** A candidate that could be taken. */
interface Fit {
  candidate: Candidate
  at: number
  group: Group | null
  /** GPUs that stay free beside the group. */
  left: number
  /** Instead of a group: what is leased for each of its ranks. */
  leased?: LeasedGpu[][]
}

/**
 * Chooses nodes, GPUs, CPUs and cards for a run: the whole gang, or nothing. The node whose best free group has the
 * best worst link comes first (then the sum of its links), of equals the one with fewest GPUs left over, so that whole
 * nodes stay whole; then the order given, which is the rack file's. Nodes that show the same GPUs (they are one
 * machine) never get one twice. Where shares are asked for, or too few nodes have enough GPUs of their own and others'
 * will do, ranks get leases of what GPU daemons share, see LeasePool. Pure; the same input gives the same output.
 */
export function placeGang(request: PlacementRequest, candidates: Candidate[]): PlacementResult {
  const used = new Set<string>()
  const chosen: Fit[] = []
  while (chosen.length < request.nodes && !isShare(request)) {
    const [best] = candidates
      .flatMap((candidate, at) => (chosen.some((one) => one.at === at) ? [] : fitOf(candidate, at, request, used)))
      .toSorted(compareFits)
    if (best === undefined) break
    chosen.push(best)
    for (const gpu of gpusOf(best)) used.add(gpu.uuid)
  }
  if (chosen.length < request.nodes) chosen.push(...lease(request, candidates, chosen, used))
  if (chosen.length < request.nodes) return refused(request, candidates, chosen, used)
  chosen.sort((a, b) => a.at - b.at)
  const names = chosen.map((one) => one.candidate.node)
  const nodes = chosen.map(({candidate, group, leased}, index) => ({
    node: candidate.node,
    index,
    ranks: bindRanks(candidate, group, leased, request, {
      first: index * request.processes,
      peers: names.filter((name) => name !== candidate.node),
    }),
  }))
  const reasons = candidates.map((candidate, at): NodeReason => {
    const mine = chosen.find((one) => one.at === at)
    if (mine)
      return {
        node: candidate.node,
        taken: true,
        why: mine.leased ? leasedText(candidate, request, mine.leased) : chosenText(candidate, mine.group, mine.left),
      }
    const [fit] = isShare(request) ? [] : fitOf(candidate, at, request, used)
    const last = chosen.toSorted(compareFits).at(-1)
    const why = fit && last ? notNeededText(request, fit, last) : lackText(candidate, request, used)
    return {node: candidate.node, taken: false, why}
  })
  return {placed: true, nodes, reasons}
}

/** Nothing but shares will do, which daemons alone can give. */
function isShare({leased}: PlacementRequest): boolean {
  return leased?.memory !== undefined || leased?.fraction !== undefined
}

/**
 * The nodes that are still missing, with leased GPUs: those first that share most themselves, because nothing is
 * nearer.
 */
function lease(request: PlacementRequest, candidates: Candidate[], chosen: Fit[], used: ReadonlySet<string>): Fit[] {
  const wish = request.leased
  if (!wish || request.gpusPerRank === 0) return []
  const pool = new LeasePool(candidates, wish, used)
  const able = candidates.flatMap((candidate, at) =>
    chosen.some((one) => one.at === at) ||
    candidate.problem !== null ||
    candidate.topology === null ||
    isTaken(candidate, request.exclusive)
      ? []
      : [{candidate, at}],
  )
  const own = new Map(able.map(({candidate}) => [candidate.node, pool.count(candidate.node, {...wish, remote: false})]))
  const found: Fit[] = []
  for (const {candidate, at} of able.toSorted(
    (a, b) => (own.get(b.candidate.node) ?? 0) - (own.get(a.candidate.node) ?? 0) || a.at - b.at,
  )) {
    const leased = chosen.length + found.length < request.nodes ? pool.take(candidate.node, request, wish) : null
    if (leased) found.push({candidate, at, group: null, left: 0, leased})
  }
  return found
}

function refused(
  request: PlacementRequest,
  candidates: Candidate[],
  fitting: Fit[],
  used: ReadonlySet<string>,
): PlacementResult {
  const reasons = candidates.map((candidate, at): NodeReason => {
    const fits = fitting.some((one) => one.at === at)
    return {node: candidate.node, taken: false, why: fits ? WOULD_DO : lackText(candidate, request, used)}
  })
  const held = candidates.some((one) => one.problem === null && one.held.length > 0)
  return {placed: false, fit: fitting.length, held, reasons}
}

function compareFits(a: Fit, b: Fit): number {
  const byGroup = a.group && b.group ? compareScores(a.group.score, b.group.score) : 0
  return byGroup || a.left - b.left || a.at - b.at
}

/** Empty where it does not fit. */
function fitOf(
  candidate: Candidate,
  at: number,
  {processes, gpusPerRank, exclusive}: PlacementRequest,
  used: ReadonlySet<string>,
): Fit[] {
  if (candidate.problem !== null || candidate.topology === null || isTaken(candidate, exclusive)) return []
  const size = processes * gpusPerRank
  if (size === 0) return [{candidate, at, group: null, left: 0}]
  const free = freeGpus(candidate, used)
  const group = bestGroup(candidate.topology, free, size)
  return group === null ? [] : [{candidate, at, group, left: free.length - size}]
}

function gpusOf({candidate, group}: Fit): Topology['gpus'] {
  return (group?.members ?? []).flatMap((at) => candidate.topology?.gpus[at] ?? [])
}
