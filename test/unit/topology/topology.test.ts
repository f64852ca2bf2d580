import {describe, expect, it} from 'vitest'
import type {GpuFact, MachineFacts} from '../../../src/lib/protocol/index.ts'
import {
  findBadWiring,
  linkBetween,
  linkRank,
  linkText,
  parseCpus,
  readTopology,
  type Topology,
} from '../../../src/lib/topology/index.ts'
import {machine} from './machines.ts'

const words = (topology: Topology): string[] =>
  topology.gpus.map((_, a) =>
    topology.gpus.map((_gpu, b) => linkText(linkBetween(topology, a, b) ?? {kind: 'unknown'})).join(' '),
  )
const kinds = (facts: MachineFacts, allowed?: string) =>
  findBadWiring(readTopology(facts), allowed).map(({kind, subjects}) => [kind, ...subjects])
const gpu = (index: number, parts: Partial<GpuFact> = {}): GpuFact => ({
  index,
  uuid: `GPU-${index}`,
  name: 'A',
  memory: 80 * 1024 ** 3,
  driver: '1',
  bus: `0000:0${index}:00.0`,
  ...parts,
})
const links = (cells: string[][], devices = cells.map((_, index) => `GPU${index}`)): MachineFacts['links'] => ({
  source: 'nvidia-smi',
  devices,
  matrix: cells,
  affinity: {},
})

describe('links', () => {
  it('are ordered by how much of the machine a transfer crosses', () => {
    const cells = ['NV18', 'NV4', 'NV1', 'PIX', 'PXB', 'PHB', 'NODE', 'SYS', '?']
    const ranks = cells.map((cell) =>
      linkRank(
        linkBetween(
          readTopology({
            gpus: [gpu(0), gpu(1)],
            links: links([
              ['X', cell],
              [cell, 'X'],
            ]),
          }),
          0,
          1,
        )!,
      ),
    )
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a))
    expect(new Set(ranks).size).toBe(cells.length)
    expect(ranks.at(-1)).toBe(0)
  })
  it('are none of a GPU with itself, or with one that is not there', () => {
    const topology = readTopology(machine('nvlink-4x'))
    expect([linkBetween(topology, 2, 2), linkBetween(topology, 0, 9)]).toEqual([null, null])
  })
  it('across NUMA nodes of one socket are not across sockets', () => {
    const numa = [0, 1, 2].map((node) => ({node, socket: node === 2 ? 1 : 0, cpus: `${node}`}))
    const gpus = [0, 1, 2].map((index) => gpu(index, {numa_node: index}))
    const topology = readTopology({
      numa,
      gpus,
      links: links([
        ['X', 'SYS', 'SYS'],
        ['SYS', 'X', 'SYS'],
        ['SYS', 'SYS', 'X'],
      ]),
    })
    expect(words(topology)).toEqual(['? NODE SYS', 'NODE ? SYS', 'SYS SYS ?'])
  })
})

describe('the topology of a machine', () => {
  it('of eight GPUs behind an NVSwitch: one link between all, and a card beside each', () => {
    const topology = readTopology(machine('nvswitch-8x'))
    expect(
      new Set(
        topology.links
          .flat()
          .filter((link) => link !== null)
          .map(linkText),
      ),
    ).toEqual(new Set(['NV18']))
    expect(topology.gpus.map((one) => one.nic)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7].map((index) => ({name: `mlx5_${index}`, netdev: null, link: {kind: 'switch'}})),
    )
    expect(topology.gpus.map((one) => [one.numaNode, one.cpus]).at(5)).toEqual([1, '48-95,144-191'])
    expect(findBadWiring(topology)).toEqual([])
  })
  it('of eight GPUs below PCIe switches with one card: half of them are far from it', () => {
    const topology = readTopology(machine('switches-8x'))
    expect(words(topology)[0]).toBe('? PIX PXB PXB SYS SYS SYS SYS')
    expect(topology.gpus.map((one) => one.numaNode)).toEqual([0, 0, 0, 0, 1, 1, 1, 1])
    expect(findBadWiring(topology)).toEqual([
      expect.objectContaining({
        kind: 'far-nic',
        subjects: ['GPU0', 'GPU1', 'GPU2', 'GPU3'],
        text: 'GPU0, GPU1, GPU2 and GPU3: the nearest NIC, mlx5_0, is on another NUMA node.',
      }),
    ])
  })
  it('of five GPUs of two kinds on PCIe, one in a narrow slot', () => {
    const topology = readTopology(machine('pcie-5x-mixed'))
    expect(words(topology)[1]).toBe('SYS ? PHB NODE NODE')
    expect(topology.gpus.map((one) => one.nic)).toEqual([null, null, null, null, null])
    expect(kinds(machine('pcie-5x-mixed'))).toEqual([
      ['narrow-pcie', 'GPU1'],
      ['unlike-gpus', 'GPU0', 'GPU1', 'GPU2', 'GPU3', 'GPU4'],
    ])
    expect(findBadWiring(topology)[1]?.text).toBe(
      'The GPUs are of 2 kinds: GPU0 and GPU1 NVIDIA GeForce RTX 5090, 32 GiB; GPU2, GPU3 and GPU4 NVIDIA GeForce RTX 4090, 24 GiB.',
    )
  })
  it('takes CPUs from the NUMA node, whose number nvidia-smi may keep to itself', () => {
    expect(readTopology(machine('threadripper-2x')).gpus.map((one) => [one.numaNode, one.cpus])).toEqual([
      [0, '0-7,16-23'],
      [1, '8-15,24-31'],
    ])
    expect(readTopology(machine('nvlink-4x')).gpus.map((one) => [one.numaNode, one.cpus])).toEqual([
      [3, '6,14,22,30'],
      [1, '4,12,20,28'],
      [7, '7,15,23,31'],
      [5, '5,13,21,29'],
    ])
  })
  it('knows no place where none is told, and still the links', () => {
    const topology = readTopology(machine('nvlink-2x-container'))
    expect(words(topology)).toEqual(['? NV12', 'NV12 ?'])
    expect(topology.gpus.map((one) => [one.numaNode, one.cpus, one.nic?.name, one.nic?.link.kind])).toEqual([
      [null, null, 'mlx5_6', 'switches'],
      [null, null, 'mlx5_6', 'switches'],
    ])
  })
  it('of a machine with one NUMA node puts everything there', () => {
    const topology = readTopology({...machine('wsl-1x'), numa: [{node: 0, cpus: '0-31'}]})
    expect(topology.gpus.map((one) => [one.numaNode, one.cpus])).toEqual([[0, '0-31']])
  })
  it('does not take the memory of GPUs for nodes', () => {
    const topology = readTopology(machine('power9-gpu-memory'))
    expect(topology.numa.map((node) => [node.node, node.cpus])).toEqual([
      [0, '0-87'],
      [8, '88-175'],
    ])
    expect(findBadWiring(topology)).toEqual([])
  })
  it('of a machine without GPUs has its cards, one for a port with an interface of its own', () => {
    const {nics, gpus, links: none} = readTopology(machine('infiniband-2-sockets'))
    expect(nics.map((nic) => [nic.name, nic.netdev, nic.kind, nic.up, nic.speed, nic.numaNode])).toEqual([
      ['mlx4_0', 'ib0', 'infiniband', true, 56, 1],
      ['eth0', 'eth0', 'ethernet', true, 1, 0],
      ['eth1', 'eth1', 'ethernet', false, null, 0],
    ])
    expect([gpus, none]).toEqual([[], []])
  })
  it('of no facts at all is empty', () => {
    expect(readTopology({})).toEqual({
      sockets: null,
      numa: [],
      gpus: [],
      nics: [],
      links: [],
      nicLinks: [],
      source: null,
    })
  })
})

describe('the card of a GPU', () => {
  const port = (device: string, parts: object = {}) => ({
    device,
    port: 1,
    state: 'ACTIVE',
    rate: 400,
    link: 'InfiniBand',
    type: 'MT4129',
    bus: `0000:${device}`,
    ...parts,
  })
  const nearest = (infiniband: MachineFacts['infiniband'], cells: string[], nics: MachineFacts['nics'] = []) => {
    const names = [...(infiniband ?? []).map((one) => one.device), ...nics.map((one) => one.name)]
    return readTopology({
      gpus: [gpu(0)],
      infiniband,
      nics,
      links: links([['X', ...cells], ...cells.map((cell) => [cell])], ['GPU0', ...names]),
    }).gpus[0]?.nic?.name
  }
  it('is the nearest that works', () => {
    expect(nearest([port('mlx5_0'), port('mlx5_1')], ['NODE', 'PIX'])).toBe('mlx5_1')
    expect(nearest([port('mlx5_0'), port('mlx5_1', {state: 'DOWN'})], ['NODE', 'PIX'])).toBe('mlx5_0')
  })
  it('is not a slow one for administration, though it is nearer', () => {
    expect(nearest([port('mlx5_0'), port('mlx5_1', {rate: 25})], ['NODE', 'PIX'])).toBe('mlx5_0')
    expect(nearest([port('mlx5_0')], ['SYS', 'PIX'], [{name: 'eth0', kind: 'physical', up: true, speed: 1000}])).toBe(
      'mlx5_0',
    )
  })
  it('is never a slice of a card that is there itself', () => {
    const slice = port('mlx5_2', {part_of: '0000:mlx5_0'})
    expect(
      readTopology({
        infiniband: [port('mlx5_0'), slice],
        links: links(
          [
            ['X', 'PIX'],
            ['PIX', 'X'],
          ],
          ['mlx5_0', 'mlx5_2'],
        ),
      }).nics.map((nic) => nic.name),
    ).toEqual(['mlx5_0'])
    expect(nearest([slice], ['PIX'])).toBe('mlx5_2')
  })
  it('is an Ethernet card where nothing does RDMA', () => {
    expect(
      nearest(
        [],
        ['SYS', 'NODE'],
        [
          {name: 'eth0', kind: 'physical', up: true, speed: 10_000},
          {name: 'eth1', kind: 'physical', up: true, speed: 10_000},
        ],
      ),
    ).toBe('eth1')
    expect(nearest([], ['PIX'], [{name: 'eth0', kind: 'physical', up: false}])).toBeUndefined()
  })
})

describe('what is badly wired', () => {
  const numa = [
    {node: 0, socket: 0, cpus: '0-3', memory: 1},
    {node: 1, socket: 1, cpus: '4-7', memory: 0},
  ]
  it('is memory on the other socket, for a GPU or only for CPUs', () => {
    expect(kinds({numa, gpus: [gpu(0, {numa_node: 0}), gpu(1, {numa_node: 1})]})).toEqual([['far-memory', 'GPU1']])
    expect(kinds({numa, gpus: [gpu(0, {numa_node: 0})]})).toEqual([['no-memory', 'NUMA 1']])
  })
  it('is a GPU whose CPUs are not for this user', () => {
    expect(
      kinds(
        {numa: numa.map((node) => ({...node, memory: 1})), gpus: [gpu(0, {numa_node: 0}), gpu(1, {numa_node: 1})]},
        '0-2',
      ),
    ).toEqual([['far-cpus', 'GPU1']])
  })
  it('is a card below its speed, told by the card or by another one of its model', () => {
    const ports = [100, 200].map((rate, index) => ({
      device: `mlx5_${index}`,
      port: 1,
      state: 'ACTIVE',
      rate,
      link: 'InfiniBand',
      type: 'MT4123',
      bus: `${index}`,
    }))
    expect(kinds({infiniband: ports})).toEqual([['slow-nic', 'mlx5_0']])
    expect(kinds({infiniband: ports.map((one, index) => ({...one, type: `${index}`}))})).toEqual([])
    const card = (name: string, speed: number) => ({
      name,
      kind: 'physical' as const,
      up: true,
      speed,
      max_speed: 25_000,
    })
    expect(findBadWiring(readTopology({nics: [card('eth0', 10_000)]}))[0]?.text).toBe(
      'eth0 runs at 10 Gbit/s; the card is made for 25.',
    )
    expect(kinds({nics: [card('eth0', 1000), card('eth1', 25_000)]})).toEqual([])
  })
  it('has a reason for each, in one sentence', () => {
    const all = [machine('switches-8x'), machine('pcie-5x-mixed'), {numa, gpus: [gpu(1, {numa_node: 1})]}].flatMap(
      (facts) => findBadWiring(readTopology(facts), '0'),
    )
    for (const {text, why} of all) for (const sentence of [text, why]) expect(sentence).toMatch(/^[A-Za-z0-9].*[^.]\.$/)
  })
})

it('lists of CPUs are read as the kernel writes them', () => {
  expect([parseCpus('0-2,8,10-11'), parseCpus('')]).toEqual([[0, 1, 2, 8, 10, 11], []])
})
