import {describe, expect, it} from 'vitest'
import {probeText} from '../../../../src/cli/rack/probe-text.ts'
import {topologiesText} from '../../../../src/cli/rack/topology-text.ts'
import type {NodeReport, NodeTopology, Probe} from '../../../../src/lib/nodes/index.ts'
import type {MachineFacts, NodeFacts} from '../../../../src/lib/protocol/index.ts'
import {findBadWiring, readTopology} from '../../../../src/lib/topology/index.ts'
import {machine} from '../../topology/machines.ts'

const facts = (parts: object): NodeFacts => ({missing: {}, clock: 0, ...parts}) as NodeFacts
const report = (node: string, parts: MachineFacts): NodeReport<NodeTopology> => {
  const topology = readTopology(parts)
  return {node, ok: true, value: {topology, findings: findBadWiring(topology), facts: facts(parts)}}
}
const drawn = (name: string, width = 80): string => topologiesText([report(name, machine(name))], width)
const probed = (
  node: string,
  parts: Omit<MachineFacts, 'cpu'> & Partial<Omit<NodeFacts, keyof MachineFacts>> & {cpu?: object},
): NodeReport<Probe> => ({node, ok: true, value: {facts: facts(parts), clock: {ahead: 0, within: 0.1}, roundTrip: 1}})

describe('rack show --topology', () => {
  it.each([
    'nvswitch-8x',
    'switches-8x',
    'pcie-8x',
    'pcie-5x-mixed',
    'nvlink-4x',
    'nvlink-2x-container',
    'wsl-1x',
    'infiniband-2-sockets',
    'xeon-4-sockets',
    'vector-engines-8x',
  ])('draws %s in 80 columns', (name) => {
    for (const line of drawn(name).split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80)
  })
  it('draws a matrix of GPUs and cards, with the nearest card of each GPU', () => {
    const lines = drawn('nvswitch-8x').split('\n')
    expect(lines[0]).toBe('nvswitch-8x: 2 NUMA nodes, 8 x H100 80GB HBM3, 8 NICs')
    expect(lines).toContain('GPU4    NV18 NV18 NV18 NV18 ·    NV18 NV18 NV18 1     79.6 GiB')
    expect(lines).toContain('mlx5_5  SYS  SYS  SYS  SYS  NODE PIX* NODE NODE ?')
    expect(drawn('nvswitch-8x')).toMatch(/^0 +- +0-47,96-143 +- +GPU0-3$/m)
    expect(drawn('nvswitch-8x')).not.toContain('Badly wired')
  })
  it('says what is badly wired and why', () => {
    expect(drawn('switches-8x').replaceAll(/\n +/g, ' ')).toContain(
      '- GPU0, GPU1, GPU2 and GPU3: the nearest NIC, mlx5_0, is on another NUMA node. All that these GPUs exchange',
    )
    expect(drawn('pcie-5x-mixed')).toContain('GPU1  SYS  ·    PHB  NODE NODE 0     RTX 5090, 31.8 GiB, x8')
  })
  it('explains the words that it uses, and no others', () => {
    const legend = drawn('nvlink-4x').split('\n\n').at(-1)?.replaceAll('\n', ' ')
    expect(legend).toBe(
      'NV#: that many NVLinks; PIX: below one PCIe switch; SYS: across NUMA nodes; *: the nearest NIC',
    )
  })
  it('breaks a matrix that is wider than the screen into blocks', () => {
    const names = Array.from({length: 16}, (_, index) => `GPU${index}`)
    const gpus = names.map((_, index) => ({
      index,
      uuid: `${index}`,
      name: 'Tesla V100-SXM3-32GB',
      memory: 32 * 1024 ** 3,
      driver: '1',
      bus: '',
    }))
    const text = topologiesText(
      [
        report('dgx-2', {
          gpus,
          links: {
            source: 'nvidia-smi',
            devices: names,
            matrix: names.map((a) => names.map((b) => (a === b ? 'X' : 'NV6'))),
            affinity: {},
          },
        }),
      ],
      80,
    )
    expect(
      text
        .split('\n')
        .filter((line) => /^ +GPU\d/.test(line))
        .map((line) => line.match(/GPU\d+/g)),
    ).toEqual([names.slice(0, 8), names.slice(8)])
    for (const line of text.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80)
  })
  it('says where NVLink could not be seen', () => {
    const {links, ...parts} = machine('pcie-5x-mixed')
    const text = topologiesText([report('a', {...parts, links: {...links!, source: 'sysfs'}})], 80)
    expect(text).toContain('nvidia-smi gave no matrix')
  })
  it('leaves out nodes that could not be asked', () => {
    expect(
      topologiesText([{node: 'gone', ok: false, code: 'NODE_UNREACHABLE'}, report('a', machine('wsl-1x'))], 80),
    ).toMatch(/^a: /)
  })
})

describe('rack probe', () => {
  const ib = [0, 1].map((index) => ({
    device: `mlx5_${index}`,
    port: 1,
    state: 'ACTIVE',
    rate: 400,
    link: 'InfiniBand',
    type: 'MT4129',
  }))
  it('has a line a node with GPUs, how they are linked, and the network', () => {
    const lines = probeText([
      probed('a', {...machine('nvswitch-8x'), infiniband: ib}),
      probed('b', machine('switches-8x')),
      {node: 'c', ok: false, code: 'NODE_UNREACHABLE'},
    ]).split('\n')
    expect(lines[0]).toMatch(/^NODE +STATE +CORES +MEMORY +DISK FREE +GPUS +LINKS +NETWORK +PYTHON +ADDRESS +CLOCK$/)
    expect(lines[1]).toMatch(/^a +ok .* 8 x H100 80GB HBM3 +NV18 +2 x 400G InfiniBand /)
    expect(lines[2]).toMatch(/^b +ok .* 8 x Tesla GPU +PIX to SYS /)
    expect(lines[3]).toMatch(/^c +NODE_UNREACHABLE/)
    expect(lines.at(-1)).toBe('Badly wired: b. What it is says: flexrack rack show b --topology')
  })
  it('leaves out what matters least on a narrow screen, and keeps the GPUs and their links', () => {
    const whole = (node: string) =>
      probed(node, {
        ...machine('nvswitch-8x'),
        infiniband: ib,
        memory: {total: 2 ** 41, available: 2 ** 40},
        disk: {path: '/', total: 2 ** 41, free: 2 ** 40, free_files: 1, writable: true},
        python: {version: '3.12.3', path: '/usr/bin/python3', venv: true},
        interfaces: [{name: 'eth0', addresses: ['10.20.30.40/24'], up: true}],
        cpu: {cores: 192, numa_nodes: 2, load: 0},
      })
    const lines = probeText([whole('gpu-1'), whole('gpu-2')], 80).split('\n')
    for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(80)
    expect(lines[0]).toMatch(/^NODE +STATE +CORES +MEMORY +(DISK FREE +)?GPUS +LINKS +CLOCK$/)
    expect(lines[1]).toMatch(/^gpu-1 +ok +192 +2\.0 TiB .*8 x H100 80GB HBM3 +NV18 +in step$/)
  })
  it('tells of one node all that there is', () => {
    const text = probeText([
      probed('a', {
        ...machine('infiniband-2-sockets'),
        limits: {
          open_files: {soft: 1024, hard: null},
          locked_memory: {soft: 8 * 1024 ** 2, hard: null},
          processes: {soft: null, hard: null},
        },
        gpu_daemon: {
          state: 'running',
          devices: [
            {
              index: 0,
              id: 'x',
              name: 'A',
              api: 'cuda',
              memory: 16 * 1024 ** 3,
              free: {memory: 12 * 1024 ** 3, compute: 0.75},
              whole: false,
            },
          ],
        },
        containers: [
          {name: 'podman', path: '/usr/bin/podman', version: '4.3.1'},
          {name: 'enroot', path: '/usr/bin/enroot'},
        ],
        slurm: {
          version: '22.05.8',
          partitions: [{name: 'batch', default: true, up: true, time_limit: 'infinite', nodes: 3}],
          node: {name: 'a', state: 'idle', partitions: ['batch']},
        },
        interfaces: [{name: 'eth0', addresses: ['10.0.0.1/24'], up: true, speed: 1000}],
        missing: {gpus: 'no answer within 15 s'},
      }),
    ])
    expect(text).toMatch(/^rdma: +mlx4_0 port 1: InfiniBand, ACTIVE, 56 Gbit\/s, ib0$/m)
    expect(text).toMatch(/^limits: +1024 open files, 8\.0 MiB locked memory, unlimited processes$/m)
    expect(text).toMatch(/^shared gpus: +0: A, 12\.0 GiB of 16\.0 GiB and 75 % of its time free$/m)
    expect(text).toMatch(/^containers: +podman 4\.3\.1, enroot$/m)
    expect(text).toMatch(/^slurm: +22\.05\.8; partitions batch\*; this node is a, idle$/m)
    expect(text).toMatch(/^interfaces: +eth0: 10\.0\.0\.1\/24, 1000 Mbit\/s, igb, NUMA node 0$/m)
    expect(text).toMatch(/^not measured: +gpus: no answer within 15 s$/m)
  })
  it('tells why Slurm says nothing, and of a node that is none of its', () => {
    const slurm = (fact: NonNullable<NodeFacts['slurm']>) =>
      probeText([probed('a', {slurm: fact})])
        .split('\n')
        .find((line) => line.startsWith('slurm:'))
    expect(slurm({version: '22.05.8', problem: 'its controller does not answer'})).toMatch(
      /^slurm: +22\.05\.8; its controller does not answer$/,
    )
    expect(slurm({version: '22.05.8', partitions: [], node: null})).toMatch(
      /22\.05\.8; this node is not one of its nodes$/,
    )
  })
})
