import {describe, expect, it} from 'vitest'
import type {NodeFacts, NodeReservations, Reservation} from '../../../src/lib/protocol/index.ts'
import {candidateOf} from '../../../src/lib/candidates/index.ts'
import {choosePlaces} from '../../../src/lib/train/choose.ts'
import {machine} from '../topology/machines.ts'

const facts = (parts: Partial<NodeFacts> = {}): NodeFacts => ({
  missing: {},
  clock: 0,
  ...(machine('nvlink-4x') as Partial<NodeFacts>),
  ...parts,
})
const uuids = (facts().gpus ?? []).map((gpu) => gpu.uuid)
const reserved = (...gpus: string[]): NodeReservations => ({
  shared: true,
  damaged: 0,
  identity: 'm',
  reservations:
    gpus.length === 0
      ? []
      : [
          {
            lease: 'digits-aaaaa',
            state: 'running',
            user: 'ada',
            owner: 'ada@laptop',
            project: null,
            node: 'a',
            nodes: ['a'],
            since: 0,
            over: null,
            here: true,
            wants: {gpus, slots: 1, exclusive: false},
            silent: 1,
            ends_in: null,
          } satisfies Reservation,
        ],
})
const all = {needsGpus: true, anyMemory: false}
const request = {nodes: 1, processes: 4, gpusPerRank: 1, exclusive: false}
const failure = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return error
  }
}

describe('a range of nodes', () => {
  const free = (node: string, ...gpus: string[]) =>
    candidateOf(node, facts(), reserved(...gpus), {needsGpus: false, anyMemory: false})
  const away = {...free('away'), problem: 'it cannot be asked: no route', topology: null}
  const wanted = {nodes: 4, processes: 1, gpusPerRank: 0, exclusive: true}
  const names = (least: number, ...candidates: Parameters<typeof choosePlaces>[1]) =>
    choosePlaces(wanted, candidates, false, least).result.nodes.map((one) => one.node)

  it('gets as many as are free and reachable, and the others say why not', () => {
    expect(names(2, free('a'), away, free('b', uuids[0] as string), free('c'))).toEqual(['a', 'c'])
    const {chosen} = choosePlaces(wanted, [free('a'), away, free('c')], false, 1)
    expect(chosen.reasons.map((one) => [one.node, one.taken])).toEqual([
      ['a', true],
      ['away', false],
      ['c', true],
    ])
    expect(chosen.reasons[1]?.why).toBe('It cannot be asked: no route.')
  })

  it('is refused where fewer are free than the least', () => {
    expect(failure(() => names(3, free('a'), away, free('b', uuids[0] as string), free('c')))).toMatchObject({
      code: 'RESERVED',
      message: expect.stringMatching(/^3 nodes are asked for, and only 2 of 4 fit/),
    })
  })
})

describe('candidateOf', () => {
  it('knows GPUs that runs, daemons and other programs have', () => {
    const gpus = facts().gpus?.map((gpu, index) => ({
      ...gpu,
      memory: 16 * 1024 ** 3,
      free: index === 2 ? 2 ** 30 : 16 * 1024 ** 3,
    }))
    const device = {
      index: 0,
      id: uuids[1] as string,
      name: 'g',
      api: 'cuda' as const,
      memory: 100,
      free: {memory: 50, compute: 0.5},
      whole: false,
    }
    const node = candidateOf(
      'a',
      facts({...(gpus && {gpus}), gpu_daemon: {state: 'running', devices: [device]}}),
      reserved(uuids[0] as string),
      all,
    )
    expect(node.busy).toEqual({
      [uuids[1] as string]: 'leased by the GPU daemon',
      [uuids[2] as string]: 'used by other programs (15 of 16 GiB)',
    })
    expect(failure(() => choosePlaces(request, [node], false))).toMatchObject({
      code: 'RESERVED',
      message:
        "1 node with 4 GPUs is asked for, and none fits; a: 4 GPUs are asked for, and it has 1 free of 4: GPU0 is digits-aaaaa of ada@laptop's; GPU1 is leased by the GPU daemon; GPU2 is used by other programs (15 of 16 GiB)",
    })
    expect(candidateOf('a', facts({...(gpus && {gpus})}), reserved(), {needsGpus: true, anyMemory: true}).busy).toEqual(
      {},
    )
  })

  it('is out of the question where its GPUs do not answer and are needed', () => {
    const silent = facts({missing: {gpus: 'no answer within 10 s'}})
    expect(candidateOf('a', silent, reserved(), all).problem).toBe('its GPUs do not answer: no answer within 10 s')
    expect(candidateOf('a', silent, reserved(), {...all, needsGpus: false}).problem).toBeNull()
  })

  it('keeps the interfaces that reach other nodes', () => {
    expect(
      candidateOf(
        'a',
        facts({routes: {b: {to: '10.0.0.2', from: '10.0.0.1', interface: 'ib0'}, c: {error: 'c: no such name'}}}),
        reserved(),
        all,
      ).routes,
    ).toEqual({b: 'ib0'})
  })
})

describe('choosePlaces', () => {
  it('stands in line for what others have, only where waiting was asked for', () => {
    const node = candidateOf('a', facts(), reserved(uuids[0] as string), all)
    const {result, chosen} = choosePlaces(request, [node], true)
    expect(result.nodes[0]?.ranks.map(({gpus}) => gpus[0]?.uuid)).toEqual(uuids)
    expect(chosen).toEqual({
      waits: true,
      reasons: [
        {
          node: 'a',
          taken: true,
          why: "4 GPUs are asked for, and it has 3 free of 4: GPU0 is digits-aaaaa of ada@laptop's. The run stands in line for it.",
        },
      ],
    })
    expect(failure(() => choosePlaces(request, [node], false))).toMatchObject({
      code: 'RESERVED',
      details: {placement: [{node: 'a', taken: false}]},
    })
  })

  it('waits for the places where the fewest runs make room for it', () => {
    const held = (node: string, ...leases: string[]) => {
      const [one] = reserved(...uuids).reservations as [Reservation]
      const reservations = leases.map((lease, at) => ({
        ...one,
        lease,
        wants: {...one.wants, gpus: [uuids[at] as string]},
      }))
      return candidateOf(node, facts(), {...reserved(), reservations}, all)
    }
    const nodes = [held('a', 'stays'), held('b', 'cheap', 'dear'), held('c', 'dearer')]
    const chosen = (...room: string[]): (string | undefined)[] =>
      choosePlaces(request, nodes, true, 1, room).result.nodes.map((one) => one.node)
    expect(chosen('cheap', 'dear', 'dearer')).toEqual(['b'])
    expect(chosen('cheap', 'dearer', 'dear')).toEqual(['c'])
    expect(chosen('cheap'), 'then it stands in line as ever').toEqual(['a'])
  })

  it('does not wait for what will never be', () => {
    expect(
      failure(() => choosePlaces({...request, processes: 5}, [candidateOf('a', facts(), reserved(), all)], true)),
    ).toMatchObject({code: 'GPU_UNAVAILABLE'})
  })
})
