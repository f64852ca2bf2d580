import {expect, it} from 'vitest'
import {linkRank} from '../../../src/lib/topology/index.ts'
import {
  placeGang,
  type Candidate,
  type PlacementRequest,
  type PlacementResult,
} from '../../../src/lib/placement/index.ts'
import {chosenSeed} from '../../support/property.ts'
import {randomRack} from './racks.ts'

const RACKS = 4000
const seed = chosenSeed()

/** [worst, sum] of a group of GPUs by UUID: said again here, from the matrix alone. */
function score({topology}: Candidate, uuids: string[]): [number, number] {
  const at = uuids.map((uuid) => topology?.gpus.findIndex((gpu) => gpu.uuid === uuid) as number)
  const ranks = at.flatMap((a, index) =>
    at.slice(index + 1).map((b) => linkRank(topology?.links[a]?.[b] ?? {kind: 'unknown'})),
  )
  return [Math.min(Infinity, ...ranks), ranks.reduce((sum, one) => sum + one, 0)]
}

const isWorse = (a: [number, number], b: [number, number]): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])

/** Every group, by counting through all sets. */
function allGroups(uuids: string[], size: number): string[][] {
  return Array.from({length: 2 ** uuids.length}, (_, bits) => uuids.filter((_one, at) => (bits >> at) & 1)).filter(
    (one) => one.length === size,
  )
}

function free(candidate: Candidate, exclusive: boolean): string[] | null {
  if (candidate.problem !== null) return null
  if (candidate.held.some((one) => one.here && (one.exclusive || exclusive))) return null
  return (candidate.topology?.gpus ?? [])
    .map((one) => one.uuid)
    .filter((uuid) => candidate.busy[uuid] === undefined && !candidate.held.some((one) => one.gpus.includes(uuid)))
}

/**
 * Whether any choice of nodes could have been given all its GPUs: nodes of one machine show the same, so GPUs are
 * counted by machine.
 */
function couldBe({nodes, processes, gpusPerRank, exclusive}: PlacementRequest, candidates: Candidate[]): boolean {
  const size = processes * gpusPerRank
  const rooms = new Map<string, {room: number; hosts: number[]}>()
  for (const candidate of candidates) {
    const mine = free(candidate, exclusive)
    if (mine === null) continue
    const machine = size === 0 ? candidate.node : (candidate.topology?.gpus[0]?.uuid ?? candidate.node)
    const entry = rooms.get(machine) ?? {room: 0, hosts: []}
    rooms.set(machine, {room: Math.max(entry.room, mine.length), hosts: [...entry.hosts, mine.length]})
  }
  const most = [...rooms.values()].reduce(
    (sum, {room, hosts}) =>
      sum + (size === 0 ? 1 : Math.min(hosts.filter((one) => one >= size).length, Math.floor(room / size))),
    0,
  )
  return most >= nodes
}

function check(request: PlacementRequest, candidates: Candidate[], result: PlacementResult): void {
  expect(result.reasons.map((one) => one.node)).toEqual(candidates.map((one) => one.node))
  for (const {why} of result.reasons) expect(why).toMatch(/^\S.*\.$/)
  if (!result.placed) {
    expect(result.reasons.some((one) => one.taken)).toBe(false)
    return
  }
  // The whole gang: all nodes, all ranks, all of their GPUs.
  expect(result.nodes).toHaveLength(request.nodes)
  expect(result.reasons.filter((one) => one.taken).map((one) => one.node)).toEqual(result.nodes.map((one) => one.node))
  expect(result.nodes.flatMap((one) => one.ranks.map(({rank}) => rank))).toEqual(
    Array.from({length: request.nodes * request.processes}, (_, rank) => rank),
  )
  const given = result.nodes.flatMap((one) => one.ranks.flatMap(({gpus}) => gpus.map(({uuid}) => uuid)))
  expect(given).toHaveLength(request.nodes * request.processes * request.gpusPerRank)
  // No GPU twice, none that somebody has.
  expect(new Set(given).size).toBe(given.length)
  const chosen = result.nodes.map(({node, ranks}) => {
    const candidate = candidates.find((one) => one.node === node) as Candidate
    const mine = free(candidate, request.exclusive)
    const uuids = ranks.flatMap(({gpus}) => gpus.map(({uuid}) => uuid))
    for (const {gpus} of ranks) expect(gpus).toHaveLength(request.gpusPerRank)
    for (const uuid of uuids) expect(mine).toContain(uuid)
    expect(mine).not.toBeNull()
    return {candidate, uuids, score: score(candidate, uuids)}
  })
  // No better group is free beside what the others of this gang have: on the node itself, and on none that was left
  // out.
  for (const one of chosen) {
    const elsewhere = chosen.flatMap((other) => (other === one ? [] : other.uuids))
    for (const candidate of [
      one.candidate,
      ...candidates.filter((other) => !chosen.some((two) => two.candidate === other)),
    ]) {
      const mine = (free(candidate, request.exclusive) ?? []).filter((uuid) => !elsewhere.includes(uuid))
      for (const group of allGroups(mine, one.uuids.length))
        expect(isWorse(one.score, score(candidate, group))).toBe(false)
    }
  }
}

it(`places random racks whole and best, or not at all (${RACKS} racks; FLEXRACK_SEED=${seed})`, () => {
  const seen = {placed: 0, refused: 0}
  for (let index = 0; index < RACKS; index++) {
    const {request, candidates} = randomRack(seed + index)
    const result = placeGang(request, candidates)
    try {
      check(request, candidates, result)
      expect(placeGang(structuredClone(request), structuredClone(candidates))).toEqual(result)
      expect(result.placed).toBe(couldBe(request, candidates))
    } catch (error) {
      throw new Error(
        `FLEXRACK_SEED=${seed + index}: ${(error as Error).message}\n${JSON.stringify({request, candidates, result})}`,
        {cause: error},
      )
    }
    seen[result.placed ? 'placed' : 'refused']++
  }
  // A generator that only made one of the two would prove nothing of the other.
  expect(seen.placed).toBeGreaterThan(RACKS / 10)
  expect(seen.refused).toBeGreaterThan(RACKS / 10)
}, 600_000)
