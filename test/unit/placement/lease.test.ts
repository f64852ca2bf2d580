import {describe, expect, it} from 'vitest'
import {placeGang, type Candidate, type PlacementRequest} from '../../../src/lib/placement/index.ts'
import {nodeOf, random} from './racks.ts'
import type {FreeShare} from '../../../src/lib/protocol/index.ts'

const GiB = 2 ** 30
const shared = (node: string, free: number[], parts: Partial<FreeShare> = {}): FreeShare[] =>
  free.map((share, index) => ({
    index,
    id: `${node}-${index}`,
    name: 'A GPU',
    api: 'cuda',
    memory: 16 * GiB,
    free: {memory: 16 * GiB * share, compute: share},
    whole: false,
    ...parts,
  }))
/** A node that shares devices, and has none that it could give as its own. */
const bare = (node: string, free: number[], parts: Partial<Candidate> = {}): Candidate =>
  nodeOf(node, [], {shared: shared(node, free), ...parts})
const request = (parts: Partial<PlacementRequest> = {}): PlacementRequest => ({
  nodes: 1,
  processes: 1,
  gpusPerRank: 1,
  exclusive: false,
  leased: {remote: true},
  ...parts,
})
const given = (result: ReturnType<typeof placeGang>): string[][] =>
  result.placed ? result.nodes.flatMap((one) => one.ranks.map((rank) => (rank.leased ?? []).map((gpu) => gpu.id))) : []

describe('GPUs of other nodes', () => {
  it('are taken only where the own ones do not suffice, and the reason is told', () => {
    const candidates = [nodeOf('a', [[null]]), bare('b', [1, 1])]
    expect(given(placeGang(request(), candidates))).toEqual([[]])
    const result = placeGang(request({nodes: 2}), [...candidates, bare('c', [])])
    expect(result.reasons.map((one) => one.why)).toEqual([
      'GPU0; none stays free beside them.',
      'What it has is shared by its GPU daemon; leased: GPU0 of its own.',
      'It has no GPUs.',
    ])
    const far = placeGang(request({processes: 2}), [
      bare('c', []),
      bare('b', [1, 1], {problem: null, held: [{by: 'x of y', gpus: [], exclusive: true, here: true}]}),
    ])
    expect(given(far)).toEqual([['b-0'], ['b-1']])
    expect(far.reasons[0]?.why).toBe('It has no GPUs; leased: GPU0, GPU1 of b, over the network.')
  })

  it('are not taken without leave, nor those that a run has reserved or that are out of the question', () => {
    expect(
      placeGang(request({leased: {remote: false}}), [
        bare('a', []),
        bare('b', [1], {held: [{by: 'x', gpus: [], exclusive: true, here: true}]}),
      ]),
    ).toMatchObject({placed: false})
    const {leased: _none, ...without} = request()
    expect(placeGang(without, [bare('a', [1])])).toMatchObject({placed: false, reasons: [{why: 'It has no GPUs.'}]})
    expect(placeGang(request(), [bare('a', []), bare('b', [1], {problem: 'it does not answer'})])).toMatchObject({
      placed: false,
    })
    expect(
      placeGang(request(), [
        bare('a', [], {held: [{by: 'x', gpus: ['b-0'], exclusive: false, here: false}]}),
        bare('b', [1]),
      ]),
    ).toMatchObject({placed: false})
  })
})

describe('shares', () => {
  it('come from the own node first, several ranks on one GPU, one device never twice for a rank', () => {
    const wish = {remote: true, fraction: 0.5}
    expect(given(placeGang(request({processes: 3, leased: wish}), [bare('a', [1]), bare('b', [1])]))).toEqual([
      ['a-0'],
      ['a-0'],
      ['b-0'],
    ])
    expect(given(placeGang(request({gpusPerRank: 2, leased: wish}), [bare('a', [1]), bare('b', [1])]))).toEqual([
      ['a-0', 'b-0'],
    ])
    expect(
      given(placeGang(request({leased: {remote: false, memory: 12 * GiB}}), [bare('a', [0.5]), bare('b', [0.9])])),
    ).toEqual([['b-0']])
  })

  it('bind a rank beside the GPU that is on its node', () => {
    const node = nodeOf('a', [[null]], {numa: [1], shared: shared('a', [1])})
    const result = placeGang(request({leased: {remote: true, fraction: 0.5}}), [node])
    expect(result).toMatchObject({
      placed: true,
      nodes: [{ranks: [{gpus: [], numa: [1], cpus: '4-7', leased: [{node: 'a', id: 'a-0', memory: 8 * GiB}]}]}],
    })
  })

  it('are refused with what each node has', () => {
    const result = placeGang(request({leased: {remote: true, fraction: 0.75}}), [bare('a', [0.5]), bare('b', [])])
    expect(result).toMatchObject({
      placed: false,
      reasons: [
        {
          why: '1 share of a GPU is asked for: GPU0 has 8192 MiB and 50 % of its time free, and the other nodes have too little besides.',
        },
        {
          why: '1 share of a GPU is asked for: no GPU daemon here shares any, and the other nodes have too little besides.',
        },
      ],
    })
  })
})

it('never gives more of a device than it has, nor half a gang', () => {
  let placed = 0
  for (let seed = 1; seed <= 2000; seed++) {
    const pick = random(seed)
    const candidates = Array.from({length: 1 + pick(4)}, (_, at) =>
      bare(
        `n${at}`,
        Array.from({length: pick(4)}, () => pick(5) / 4),
        pick(6) === 0 ? {problem: 'it does not answer'} : {},
      ),
    )
    const wish = {
      remote: pick(2) === 0,
      ...(pick(2) === 0 ? {fraction: (1 + pick(4)) / 4} : {memory: (1 + pick(16)) * GiB}),
    }
    const requested = request({nodes: 1 + pick(3), processes: 1 + pick(3), gpusPerRank: 1 + pick(2), leased: wish})
    const result = placeGang(requested, candidates)
    if (!result.placed) continue
    placed++
    const ranks = result.nodes.flatMap((node) => node.ranks.map((rank) => ({node: node.node, gpus: rank.leased ?? []})))
    expect(ranks).toHaveLength(requested.nodes * requested.processes)
    for (const {node, gpus} of ranks) {
      expect(new Set(gpus.map((one) => one.id)).size).toBe(requested.gpusPerRank)
      if (!wish.remote) expect(gpus.every((one) => one.node === node)).toBe(true)
    }
    for (const device of candidates.flatMap((one) => (one.problem === null ? (one.shared ?? []) : []))) {
      const taken = ranks
        .flatMap((one) => one.gpus)
        .filter((one) => one.id === device.id)
        .reduce((sum, one) => sum + one.memory, 0)
      expect(taken).toBeLessThanOrEqual(device.free.memory)
    }
  }
  expect(placed).toBeGreaterThan(200)
})
