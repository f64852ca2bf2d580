import {parseCpus, type NumaPlace, type Topology} from '../topology/index.ts'
import {bestGroup} from './group.ts'
import type {Candidate, Group, LeasedGpu, PlacedRank, PlacementRequest} from './types.ts'

/**
 * Which of a node's GPUs each of its ranks gets, and the CPUs, the memory and the card beside them. `leased`: what each
 * gets instead. `peers`: the other nodes of the gang.
 */
export function bindRanks(
  candidate: Candidate,
  group: Group | null,
  leased: LeasedGpu[][] | undefined,
  request: PlacementRequest,
  {first, peers}: {first: number; peers: string[]},
): PlacedRank[] {
  const topology = candidate.topology as Topology
  const shares = group === null ? [] : splitGroup(topology, group.members, request.gpusPerRank)
  const usable = usableNuma(topology.numa, candidate.allowed)
  const route = routeNic(candidate, peers)
  return Array.from({length: request.processes}, (_, local) => {
    const gpus = (shares[local] ?? []).map((at) => topology.gpus[at] as Topology['gpus'][number])
    const beside = leased ? ownGpus(topology, candidate.node, leased[local] ?? []) : gpus
    const near = [...new Set(beside.map((gpu) => gpu.numaNode))]
    const wanted =
      beside.length === 0 ? spread(usable, local, request.processes) : usable.filter((one) => near.includes(one.node))
    // A GPU whose place nobody knows, or has no CPUs that we may use: a rank bound to only some of its GPUs' places
    // would be bound wrongly.
    const numa = beside.length > 0 && wanted.length < near.length ? [] : wanted
    const nearest = beside[0]?.nic?.name
    return {
      rank: first + local,
      local,
      gpus: gpus.map(({index, uuid}) => ({index, uuid})),
      numa: numa.map((one) => one.node),
      cpus: numa.length === 0 ? null : cpuText(numa.flatMap((one) => one.usable)),
      memory: numa.filter((one) => one.memory !== 0).map((one) => one.node),
      nic:
        route !== undefined
          ? {name: route, why: 'route' as const}
          : nearest !== undefined
            ? {name: nearest, why: 'nearest' as const}
            : null,
      ...(leased && {leased: leased[local] ?? []}),
    }
  })
}

/**
 * Leased shares that are on this very node, by what the node knows of them; none where some come from elsewhere: no
 * place is beside all then.
 */
function ownGpus({gpus}: Topology, node: string, leased: LeasedGpu[]): Topology['gpus'] {
  const own = leased.flatMap((one) => (one.node === node ? gpus.filter((gpu) => gpu.uuid === one.id) : []))
  return own.length === leased.length ? own : []
}

type UsableNuma = NumaPlace & {usable: number[]}

/** NUMA nodes with CPUs that we may use. */
function usableNuma(numa: NumaPlace[], allowed: string | null): UsableNuma[] {
  const mine = allowed === null ? undefined : new Set(parseCpus(allowed))
  return numa
    .map((one) => ({...one, usable: parseCpus(one.cpus).filter((cpu) => mine?.has(cpu) ?? true)}))
    .filter((one) => one.usable.length > 0)
}

/** Ranks without GPUs in blocks over the NUMA nodes; where there are more of those than ranks, each has several. */
function spread(numa: UsableNuma[], local: number, ranks: number): UsableNuma[] {
  const from = Math.floor((local * numa.length) / ranks)
  return numa.slice(from, Math.max(from + 1, Math.floor(((local + 1) * numa.length) / ranks)))
}

/** The group in parts of equal size: always the best part that has the lowest number left. */
function splitGroup(topology: Topology, members: number[], size: number): number[][] {
  const shares: number[][] = []
  let left = members
  while (left.length > 0) {
    const [lowest, ...others] = left as [number, ...number[]]
    const share = shareWith(topology, lowest, others, size)
    shares.push(share)
    left = left.filter((one) => !share.includes(one))
  }
  return shares
}

function shareWith(topology: Topology, lowest: number, others: number[], size: number): number[] {
  const share = [lowest]
  while (share.length < size) {
    const best = others
      .filter((one) => !share.includes(one))
      .map((one) => bestGroup(topology, [...share, one], share.length + 1))
    const [next] = best
      .flatMap((one) => (one === null ? [] : [one]))
      .toSorted((a, b) => b.score.worst - a.score.worst || b.score.sum - a.score.sum)
    if (next === undefined) break
    share.splice(0, share.length, ...next.members)
  }
  return share
}

/**
 * The card through which the first other node is reached; its RDMA name where it has one. Loopback is no card: the
 * nodes are one machine.
 */
function routeNic({topology, routes}: Candidate, peers: string[]): string | undefined {
  const through = peers.map((peer) => routes[peer]).find((name) => name !== undefined)
  if (through === undefined || through === 'lo') return undefined
  return topology?.nics.find((nic) => nic.netdev === through)?.name ?? through
}

/** [0, 1, 2, 8] as `0-2,8`. */
export function cpuText(cpus: number[]): string {
  const sorted = [...new Set(cpus)].toSorted((a, b) => a - b)
  const runs: [number, number][] = []
  for (const cpu of sorted) {
    const last = runs.at(-1)
    if (last && last[1] === cpu - 1) last[1] = cpu
    else runs.push([cpu, cpu])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',')
}
