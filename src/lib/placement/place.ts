import type {Topology} from '../topology/index.ts'
import {bindRanks} from './bind.ts'
import {freeGpus, isTaken} from './free.ts'
import {bestGroup, compareScores} from './group.ts'
import {chosenText, lackText, notNeededText, WOULD_DO} from './text.ts'
import type {Candidate, Group, NodeReason, PlacementRequest, PlacementResult} from './types.ts'

/** A candidate that could be taken. */
interface Fit {
  candidate: Candidate
  at: number
  group: Group | null
  /** GPUs that stay free beside the group. */
  left: number
}

/**
 * Chooses nodes, GPUs, CPUs and cards for a run: the whole gang, or nothing. The node whose best free group has the best worst link comes
 * first (then the sum of its links), of equals the one with fewest GPUs left over, so that whole nodes stay whole; then the order given, which is
 * the rack file's. Nodes that show the same GPUs (they are one machine) never get one twice. Pure; the same input gives the same output.
 */
export function placeGang(request: PlacementRequest, candidates: Candidate[]): PlacementResult {
  const used = new Set<string>()
  const chosen: Fit[] = []
  while (chosen.length < request.nodes) {
    const [best] = candidates.flatMap((candidate, at) => (chosen.some((one) => one.at === at) ? [] : fitOf(candidate, at, request, used))).toSorted(compareFits)
    if (best === undefined) return refused(request, candidates, chosen, used)
    chosen.push(best)
    for (const gpu of gpusOf(best)) used.add(gpu.uuid)
  }
  chosen.sort((a, b) => a.at - b.at)
  const names = chosen.map((one) => one.candidate.node)
  const nodes = chosen.map(({candidate, group}, index) => ({
    node: candidate.node,
    index,
    ranks: bindRanks(candidate, group, request, {first: index * request.processes, peers: names.filter((name) => name !== candidate.node)}),
  }))
  const reasons = candidates.map((candidate, at): NodeReason => {
    const mine = chosen.find((one) => one.at === at)
    if (mine) return {node: candidate.node, taken: true, why: chosenText(candidate, mine.group, mine.left)}
    const [fit] = fitOf(candidate, at, request, used)
    const last = chosen.toSorted(compareFits).at(-1)
    const why = fit && last ? notNeededText(request, fit, last) : lackText(candidate, request, used)
    return {node: candidate.node, taken: false, why}
  })
  return {placed: true, nodes, reasons}
}

function refused(request: PlacementRequest, candidates: Candidate[], fitting: Fit[], used: ReadonlySet<string>): PlacementResult {
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
function fitOf(candidate: Candidate, at: number, {processes, gpusPerRank, exclusive}: PlacementRequest, used: ReadonlySet<string>): Fit[] {
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
