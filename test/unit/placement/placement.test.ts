import {describe, expect, it} from 'vitest'
import {readTopology} from '../../../src/lib/topology/index.ts'
import {
  placeGang,
  type Candidate,
  type PlacementRequest,
  type PlacementResult,
} from '../../../src/lib/placement/index.ts'
import {machine} from '../topology/machines.ts'
import {islands, nodeOf} from './racks.ts'

const NV = {kind: 'nvlink', count: 12} as const
const SYS = {kind: 'system'} as const
const request = (parts: Partial<PlacementRequest> = {}): PlacementRequest => ({
  nodes: 1,
  processes: 1,
  gpusPerRank: 1,
  exclusive: false,
  ...parts,
})
const pairs = (node: string, parts: Parameters<typeof nodeOf>[2] = {}): Candidate =>
  nodeOf(node, islands(4, 2, NV, SYS), {numa: [0, 0, 1, 1], ...parts})
const held = (...gpus: string[]): Candidate['held'] => [
  {by: 'digits-k3x9a of ada@laptop', gpus, exclusive: false, here: true},
]
const given = (result: PlacementResult): Record<string, number[][]> =>
  result.placed
    ? Object.fromEntries(
        result.nodes.map(({node, ranks}) => [node, ranks.map(({gpus}) => gpus.map(({index}) => index))]),
      )
    : {}
const reasons = (result: PlacementResult): Record<string, string> =>
  Object.fromEntries(result.reasons.map(({node, why}) => [node, why]))

describe('placeGang', () => {
  it('takes the GPUs that share the fastest links', () => {
    expect(given(placeGang(request({processes: 2}), [pairs('a', {held: held('a-0')})]))).toEqual({a: [[2], [3]]})
    expect(given(placeGang(request({processes: 2, gpusPerRank: 2}), [pairs('a')]))).toEqual({
      a: [
        [0, 1],
        [2, 3],
      ],
    })
  })

  it('takes a single GPU where no good pair is broken for it', () => {
    expect(given(placeGang(request(), [pairs('a', {held: held('a-2')})]))).toEqual({a: [[3]]})
  })

  it('leaves whole nodes whole, and a node with worse links where it is', () => {
    expect(given(placeGang(request(), [pairs('a'), pairs('b', {held: held('b-0', 'b-1', 'b-2')})]))).toEqual({b: [[3]]})
    const broken = pairs('a', {held: held('a-0', 'a-2')})
    const result = placeGang(request({processes: 2}), [broken, pairs('b')])
    expect(given(result)).toEqual({b: [[0], [1]]})
    expect(reasons(result)).toEqual({
      a: 'Its best free GPUs have worse links (SYS at worst) than those that were taken.',
      b: 'GPU0, GPU1 are the free GPUs with the best links: NV12 at worst; 2 more stay free.',
    })
  })

  it('says why a node that would do is left', () => {
    const why = (...nodes: Candidate[]): string[] => Object.values(reasons(placeGang(request(), nodes)))
    expect(why(pairs('a'), pairs('b'))[1]).toBe(
      'It would do, but one node is enough, and it comes later in the rack file.',
    )
    expect(why(pairs('a'), pairs('b', {held: held('b-0')}))[0]).toBe(
      'It would do, but one node is enough, and taking it would leave 3 of its GPUs over, more than on those that were taken.',
    )
  })

  it('numbers ranks in the order of the rack file, however nodes were chosen', () => {
    const result = placeGang(request({nodes: 2, processes: 2}), [pairs('a'), pairs('b', {held: held('b-0', 'b-1')})])
    expect(
      result.placed && result.nodes.map(({node, index, ranks}) => [node, index, ranks.map(({rank}) => rank)]),
    ).toEqual([
      ['a', 0, [0, 1]],
      ['b', 1, [2, 3]],
    ])
  })

  it('places all or nothing, and says of every node why', () => {
    const result = placeGang(request({nodes: 2, processes: 4}), [
      pairs('a'),
      pairs('b', {held: held('b-1'), busy: {'b-3': 'leased by the GPU daemon'}}),
      nodeOf('c', []),
      {...pairs('d'), problem: 'it does not answer: no route', topology: null},
      pairs('e', {held: [{by: 'x of y', gpus: [], exclusive: true, here: true}]}),
    ])
    expect(result).toMatchObject({placed: false, fit: 1, held: true})
    expect(reasons(result)).toEqual({
      a: 'It would do, but not enough others would.',
      b: "4 GPUs are asked for, and it has 2 free of 4: GPU1 is digits-k3x9a of ada@laptop's; GPU3 is leased by the GPU daemon.",
      c: 'It has no GPUs.',
      d: 'It does not answer: no route.',
      e: 'x of y has the whole node.',
    })
  })

  it('never gives a GPU twice to nodes that are one machine', () => {
    const uuids = ['g0', 'g1', 'g2', 'g3']
    expect(given(placeGang(request({nodes: 2, processes: 2}), [pairs('a', {uuids}), pairs('b', {uuids})]))).toEqual({
      a: [[0], [1]],
      b: [[2], [3]],
    })
    expect(reasons(placeGang(request({nodes: 2, processes: 3}), [pairs('a', {uuids}), pairs('b', {uuids})])).b).toMatch(
      'taken for another node of this run on the same machine',
    )
  })

  it('wants the whole node free for a run alone, whoever is there; another simulated node is not there', () => {
    expect(placeGang(request({exclusive: true}), [pairs('a', {held: held('a-0')})])).toMatchObject({placed: false})
    expect(
      given(
        placeGang(request({exclusive: true}), [
          pairs('a', {held: [{by: 'x', gpus: ['a-0', 'a-1'], exclusive: true, here: false}]}),
        ]),
      ),
    ).toEqual({a: [[2]]})
  })

  it('finds islands among sixteen', () => {
    const node = nodeOf('a', islands(16, 8, NV, SYS), {held: held('a-0')})
    expect(given(placeGang(request({processes: 8}), [node]))).toEqual({
      a: [8, 9, 10, 11, 12, 13, 14, 15].map((one) => [one]),
    })
  })

  it('places eight on a captured machine with PCIe switches', () => {
    const topology = readTopology(machine('switches-8x'))
    const result = placeGang(request({processes: 2}), [
      {...nodeOf('a', []), topology, held: held((topology.gpus[0] as {uuid: string}).uuid)},
    ])
    const [[a = -1], [b = -1]] = (given(result).a ?? [[], []]) as [number[], number[]]
    expect(topology.links[a]?.[b]).toEqual({kind: 'switch'})
  })
})

describe('what a rank is bound to', () => {
  const ranks = (result: PlacementResult): unknown =>
    result.placed && result.nodes[0]?.ranks.map(({numa, cpus, memory}) => [numa, cpus, memory])

  it('is the NUMA node of its GPUs, as far as its CPUs may be used', () => {
    expect(ranks(placeGang(request({processes: 4}), [pairs('a', {allowed: '1-6'})]))).toEqual([
      [[0], '1-3', [0]],
      [[0], '1-3', [0]],
      [[1], '4-6', [1]],
      [[1], '4-6', [1]],
    ])
    expect(ranks(placeGang(request({gpusPerRank: 4}), [pairs('a')]))).toEqual([[[0, 1], '0-7', [0, 1]]])
  })

  it('is nothing where that is not known or not allowed', () => {
    expect(ranks(placeGang(request({processes: 2}), [pairs('a', {numa: [null, null, null, null]})]))).toEqual([
      [[], null, []],
      [[], null, []],
    ])
    expect(ranks(placeGang(request({processes: 4}), [pairs('a', {allowed: '0-3'})]))).toEqual([
      [[0], '0-3', [0]],
      [[0], '0-3', [0]],
      [[], null, []],
      [[], null, []],
    ])
  })

  it('is spread over the NUMA nodes without GPUs', () => {
    const bound = (processes: number, numaNodes: number): unknown =>
      ranks(placeGang(request({processes, gpusPerRank: 0}), [nodeOf('a', [], {numaNodes})]))
    expect(bound(4, 2)).toEqual([
      [[0], '0-3', [0]],
      [[0], '0-3', [0]],
      [[1], '4-7', [1]],
      [[1], '4-7', [1]],
    ])
    expect(bound(1, 2)).toEqual([[[0, 1], '0-7', [0, 1]]])
    expect(bound(3, 2)).toEqual([
      [[0], '0-3', [0]],
      [[0], '0-3', [0]],
      [[1], '4-7', [1]],
    ])
  })

  it('leaves out memory that is not there', () => {
    const node = nodeOf('a', [])
    for (const one of node.topology?.numa ?? []) one.memory = one.node === 0 ? 0 : 1
    expect(ranks(placeGang(request({gpusPerRank: 0}), [node]))).toEqual([[[0, 1], '0-7', [1]]])
  })

  it('is the card on the route, else the nearest', () => {
    const nic = (result: PlacementResult): unknown => result.placed && result.nodes[0]?.ranks[0]?.nic
    expect(nic(placeGang(request({nodes: 2}), [pairs('a', {routes: {b: 'ib0'}}), pairs('b')]))).toEqual({
      name: 'ib0',
      why: 'route',
    })
    expect(nic(placeGang(request({nodes: 2}), [pairs('a', {routes: {b: 'lo'}}), pairs('b')]))).toEqual({
      name: 'mlx5_0',
      why: 'nearest',
    })
  })
})
