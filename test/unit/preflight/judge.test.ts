import {describe, expect, it} from 'vitest'
import type {CliError} from '../../../src/lib/base/index.ts'
import {
  chosenChecks,
  CHECKS,
  parseSkip,
  type CheckName,
  type Measured,
  type NodeMeasured,
  type Rate,
  type Way,
} from '../../../src/lib/preflight/index.ts'
import {judge} from '../../../src/lib/preflight/preflight.ts'
import type {NodeState} from '../../../src/lib/protocol/index.ts'

const GIB = 1024 ** 3
const ALL = Object.keys(CHECKS) as CheckName[]
const good: NodeState = {
  limits: {
    open_files: [1024, 1_048_576],
    locked: [8 << 20, 8 << 20],
    processes: [100_000, 100_000],
    tasks_left: 90_000,
    may_lock: false,
  },
  shm: {total: 8 * GIB, free: 8 * GIB},
  disks: [{path: '/home/u/.flexrack', total: 100 * GIB, free: 50 * GIB, files: 1e6, free_files: 5e5}],
  ports: {range: [32768, 60999], used: 100},
  versions: {
    environment: 'e1',
    python: '3.11.2',
    packages: {torch: '2.13.0', numpy: '2.4.6', 'nvidia-nccl-cu12': '2.27.3'},
  },
  rdma: [
    {
      device: 'mlx5_0',
      port: '1',
      state: 'ACTIVE',
      physical: 'LinkUp',
      layer: 'InfiniBand',
      rate: '400 Gb/sec (4X NDR)',
    },
  ],
  gpus: [
    {index: 0, uuid: 'GPU-1', name: 'H100', driver: '580.95', total: 80 * GIB, used: 0, free: 80 * GIB, processes: []},
  ],
  leftovers: [],
  missing: {},
}
const limits = {...good.limits!, locked: [null, null] as [null, null]}
const node = (name: string, state: Partial<NodeState> = {}, more: Partial<NodeMeasured> = {}): NodeMeasured => ({
  node: name,
  address: `10.0.0.${name.slice(1)}`,
  machine: name,
  interface: {name: 'eth0', up: true, mtu: 1500},
  clock: {ahead: 0, within: 0.01},
  state: {...good, limits, ...state},
  ...more,
})
const found = (parts: Partial<Measured>, checks = ALL, processes = 1) =>
  judge(
    {
      nodes: [],
      ways: [],
      rates: [],
      pairs: {possible: 0, measured: 0},
      times: {open: 0, reach: 0, bandwidth: 0, facts: 0, total: 0},
      ...parts,
    },
    checks,
    {processes},
  )
const said = (parts: Partial<Measured>, processes = 1) =>
  found(parts, ALL, processes).map(({severity, check, message}) => `${severity} ${check} ${message}`)

describe('one node', () => {
  const about = (state: Partial<NodeState>, processes = 1) => said({nodes: [node('n1', state)]}, processes)

  it('is fine', () => {
    expect(about({})).toEqual([])
  })

  it('gives every finding a way out, and only those of the chosen checks', () => {
    const bad = node('n1', {
      shm: null,
      disks: [{path: '/', total: GIB, free: 0, files: 100, free_files: 1}],
      limits: {...limits, open_files: [100, 100], tasks_left: 3},
      leftovers: [{run: 'r-1', pids: [7], command: 'python x'}],
    })
    const findings = found({nodes: [bad]})
    expect(findings.map((one) => one.check).toSorted()).toEqual([
      'disk',
      'disk',
      'leftovers',
      'limits',
      'limits',
      'shm',
    ])
    expect(findings.every((one) => one.node === 'n1' && one.fix !== undefined && one.message.startsWith('n1: '))).toBe(
      true,
    )
    expect(findings.map((one) => one.severity)).toEqual(['error', 'error', 'error', 'error', 'warning', 'warning'])
    expect(found({nodes: [bad]}, ['shm']).map((one) => one.check)).toEqual(['shm'])
  })

  it('has too few open files, tasks, or too little locked memory where there is RDMA', () => {
    expect(about({limits: {...limits, open_files: [1024, 2048]}})).toEqual([
      'warning limits n1: a process may open only 2048 files (ulimit -Hn)',
    ])
    expect(about({limits: {...limits, tasks_left: 500}, gpus: []}, 8)).toEqual([
      expect.stringContaining('error limits n1: only 500 more processes and threads'),
    ])
    expect(about({limits: {...limits, locked: [65536, 65536]}})).toEqual([
      'error limits n1: only 64 KiB of memory may be locked, and RDMA locks what it sends (ulimit -l)',
    ])
    expect(about({limits: {...limits, locked: [65536, 65536], may_lock: true}})).toEqual([])
    expect(about({limits: {...limits, locked: [65536, 65536]}, rdma: []})).toEqual([])
  })

  it('has a small or a full /dev/shm', () => {
    expect(about({shm: {total: 64 << 20, free: 64 << 20}})).toEqual([
      'warning shm n1: /dev/shm has only 64 MiB; data loaders with worker processes may fail',
    ])
    expect(about({shm: {total: GIB, free: 1 << 20}})).toEqual([
      'error shm n1: only 1 MiB of 1.0 GiB are free in /dev/shm',
    ])
  })

  it('has hardly a port left, or cannot listen at its address', () => {
    expect(about({ports: {range: [60000, 60999], used: 900}})).toEqual([
      'error ports n1: only 100 ports are left for connections (60000-60999, 900 in use)',
    ])
    expect(said({nodes: [node('n1', {}, {closed: 'Cannot assign requested address'})]})).toEqual([
      'error ports n1: it cannot listen at 10.0.0.1: Cannot assign requested address',
    ])
  })

  it('has a GPU that somebody holds: an error only where the project is for GPUs', () => {
    const gpus = [
      {
        ...good.gpus![0]!,
        used: 72 * GIB,
        free: 8 * GIB,
        processes: [{pid: 4, used: 72 * GIB, command: 'python', user: 'eve'}],
      },
    ]
    expect(about({gpus})).toEqual([
      'error gpus n1: GPU 0 has only 8.0 GiB of 80.0 GiB free: held by python (process 4 of eve, 72.0 GiB)',
    ])
    expect(about({gpus, versions: {packages: {torch: '2.13.0+cpu'}}})).toEqual([expect.stringMatching(/^warning gpus/)])
    expect(about({gpus: [{...gpus[0]!, processes: []}]})).toEqual([
      expect.stringContaining('held by processes that cannot be seen from here'),
    ])
    const measured = {
      nodes: [node('n1', {gpus: [...gpus, {...good.gpus![0]!, index: 1, uuid: 'GPU-2'}]})],
      ways: [],
      rates: [],
      pairs: {possible: 0, measured: 0},
      times: {open: 0, reach: 0, bandwidth: 0, facts: 0, total: 0},
    }
    const chosen = (uuid: string) =>
      judge(measured, ALL, {processes: 4, gpus: new Map([['n1', [uuid]]])}).map((one) => one.message)
    expect([chosen('GPU-2'), chosen('GPU-1')]).toEqual([[], [expect.stringContaining('GPU 0 has only')]])
    expect(about({missing: {gpus: 'nvidia-smi ended with 9'}, gpus: []})).toEqual([
      'error gpus n1: its GPUs do not answer: nvidia-smi ended with 9',
    ])
    expect(about({}, 2)).toEqual(['warning gpus n1: 2 ranks would share one GPU, which NCCL refuses'])
  })

  it('has RDMA ports that are not active', () => {
    const port = good.rdma![0]!
    expect(about({rdma: [{...port, state: 'INIT'}, port]})).toEqual([
      expect.stringContaining('linked but not active: no subnet manager'),
    ])
    expect(about({rdma: [{...port, state: 'DOWN', physical: 'Polling'}]})).toEqual([
      'warning rdma n1: none of its RDMA ports is active (mlx5_0 down, Polling)',
    ])
  })

  it('that could not be measured is an error', () => {
    expect(said({nodes: [{node: 'n1', error: 'n1 did not answer within 5 s'}]})).toEqual([
      'error reach n1: it could not be measured: n1 did not answer within 5 s',
    ])
  })

  it("is held against this machine's clock", () => {
    expect(said({nodes: [node('n1', {}, {clock: {ahead: -90, within: 0.1}})]})).toEqual([
      'error clock n1: its clock is 90.0 s behind this machine',
    ])
  })
})

describe('nodes side by side', () => {
  const clocks = (...ahead: number[]) =>
    said({nodes: ahead.map((one, index) => node(`n${index + 1}`, {}, {clock: {ahead: one, within: 0.05}}))})

  it('blames the one clock that differs, not that of this machine', () => {
    expect(clocks(30, 30.2, 30.1)).toEqual([])
    expect(clocks(30, 35, 30.1)).toEqual(['warning clock n2: its clock is 4.9 s ahead of the other nodes'])
    expect(clocks(0, -100)).toEqual(['error clock n2: its clock is 100.0 s behind the other nodes'])
    expect(clocks(7, 7.2)).toEqual([])
  })

  it('does not blame a clock for a slow answer', () => {
    expect(said({nodes: [node('n1'), node('n2'), node('n3', {}, {clock: {ahead: 2, within: 1.5}})]})).toEqual([])
  })

  it('must have one PyTorch and NCCL, and should have one driver, Python and set of packages', () => {
    const versions = (packages: Record<string, string>, more = {}) => ({
      versions: {...good.versions!, packages: {...good.versions!.packages, ...packages}, ...more},
    })
    expect(
      said({nodes: [node('n1'), node('n2'), node('n3', versions({torch: '2.12.0', 'nvidia-nccl-cu12': '2.26.2'}))]}),
    ).toEqual([
      'error versions the nodes have different versions of nvidia-nccl-cu12: 2.26.2 on n3, 2.27.3 on n1, n2',
      'error versions the nodes have different versions of torch: 2.12.0 on n3, 2.13.0 on n1, n2',
    ])
    expect(said({nodes: [node('n1'), node('n2', versions({numpy: '2.4.7'}))]})).toEqual([
      'warning versions the nodes have different packages: numpy (2.4.6 on n1, 2.4.7 on n2)',
    ])
    expect(said({nodes: [node('n1'), node('n2', versions({}, {environment: 'e2'}))]})).toEqual([
      expect.stringContaining('different environments'),
    ])
    expect(said({nodes: [node('n1'), node('n2', versions({}, {python: '3.12.1', environment: 'e2'}))]})).toEqual([
      expect.stringContaining('different Pythons'),
    ])
    expect(said({nodes: [node('n1'), node('n2', versions({}, {python: '3.11.9'}))]})).toEqual([])
    expect(said({nodes: [node('n1'), node('n2', {gpus: [{...good.gpus![0]!, driver: '570.1'}]})]})).toEqual([
      expect.stringContaining('different NVIDIA drivers: 580.95 on n1, 570.1 on n2'),
    ])
  })

  it('must have an Open MPI that understands the others where it starts the ranks', () => {
    const mpi = (...versions: (string | null)[]) =>
      judge(
        {
          ways: [],
          rates: [],
          pairs: {possible: 0, measured: 0},
          times: {open: 0, reach: 0, bandwidth: 0, facts: 0, total: 0},
          nodes: versions.map((version, index) => node(`n${index + 1}`, {versions: {...good.versions!, mpi: version}})),
        },
        ALL,
        {processes: 1, mpi: true},
      ).map(({severity, message}) => `${severity} ${message}`)
    expect(mpi('4.1.4', '4.1.4')).toEqual([])
    expect(mpi('4.1.4', '4.1.6', '4.1.4')).toEqual([
      'warning the nodes have different versions of Open MPI: 4.1.6 on n2, 4.1.4 on n1, n3',
    ])
    expect(mpi('4.1.4', '4.0.7')).toEqual([
      'error the nodes have different versions of Open MPI: 4.1.4 on n1, 4.0.7 on n2',
    ])
    expect(mpi('4.1.4', null)).toEqual(['error n2: there is no Open MPI (mpirun), and train.launcher is mpi'])
  })

  it('must all have RDMA or none, and should have one MTU', () => {
    expect(said({nodes: [node('n1'), node('n2', {rdma: []})]})).toEqual([
      expect.stringMatching(/^error rdma n2 has no active RDMA port/),
    ])
    expect(said({nodes: [node('n1'), node('n2', {}, {interface: {name: 'eth0', up: true, mtu: 9000}})]})).toEqual([
      'warning reach the interfaces of the run have different MTUs: 1500 on n1, 9000 on n2',
    ])
  })
})

describe('the ways between nodes', () => {
  const names = ['n1', 'n2', 'n3', 'n4']
  const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => ({from, to})))
  const ways = (broken: Record<string, Way['error']>): Way[] =>
    pairs.map(({from, to}): Way => {
      const error = broken[`${from} ${to}`]
      return error ? {from, to, error, text: error} : {from, to, ms: 0.2}
    })
  const nodes = names.map((name) => node(name))
  const rates = (slow: Record<string, number | undefined>): Rate[] =>
    pairs.map(({from, to}) =>
      `${from} ${to}` in slow
        ? {from, to, ...(slow[`${from} ${to}`] !== undefined && {rate: slow[`${from} ${to}`] as number})}
        : {from, to, rate: 9.4e9},
    )

  it('names a pair that is cut once, with the direction where it is only one', () => {
    expect(said({nodes, ways: ways({'n1 n3': 'silent', 'n3 n1': 'silent'})})).toEqual([
      'error reach n1 and n3 do not reach each other: what is sent there gets no answer',
    ])
    const [one] = found({nodes, ways: ways({'n2 n4': 'refused'})})
    expect(one).toMatchObject({
      pair: ['n2', 'n4'],
      message: 'n2 does not reach n4, though n4 reaches n2: the connection is refused',
      fix: expect.stringContaining('10.0.0.2'),
    })
  })

  it('tells a node that nobody reaches once', () => {
    const broken = Object.fromEntries(
      pairs.filter(({to}) => to === 'n2').map(({from, to}) => [`${from} ${to}`, 'silent' as const]),
    )
    expect(said({nodes, ways: ways(broken)})).toEqual([
      'error reach n2: no other node reaches it at 10.0.0.2: what is sent there gets no answer',
    ])
  })

  it('tells ports of the rendezvous that are closed while others are open', () => {
    expect(said({nodes, ways: [...ways({}), {from: 'n2', to: 'n1', error: 'silent', rendezvous: true}]})).toEqual([
      expect.stringContaining('n2 does not reach n1 at the ports of the rendezvous'),
    ])
  })

  it('names the pair that is slow beside the others, and does not say so of equals', () => {
    expect(said({nodes, rates: rates({})})).toEqual([])
    expect(said({nodes, rates: rates({'n1 n3': 2e9, 'n3 n1': 2e9})})).toEqual([
      'warning bandwidth between n1 and n3 a TCP stream carries 2.0 Gbit/s, where 9.4 Gbit/s is usual here',
    ])
    expect(said({nodes, rates: rates({'n3 n1': 9e7})})).toEqual([
      'error bandwidth from n3 to n1 a TCP stream carries 90 Mbit/s (back 9.4 Gbit/s), where 9.4 Gbit/s is usual here',
    ])
    expect(said({nodes, rates: rates({'n3 n1': undefined})})).toEqual([
      expect.stringContaining('error bandwidth from n3 to n1 connections are made and nothing comes through'),
    ])
    expect(
      said({
        nodes: nodes.slice(0, 2),
        rates: [
          {from: 'n1', to: 'n2', rate: 9e9},
          {from: 'n2', to: 'n1', rate: 1e8},
        ],
      }),
    ).toEqual([expect.stringMatching(/^error bandwidth from n2 to n1/)])
  })
})

describe('choosing checks', () => {
  it('leaves those of pairs out where there is one node, and bandwidth where nobody looks for ways', () => {
    expect(chosenChecks([], 1)).toEqual(ALL.filter((name) => !CHECKS[name].pairs))
    expect(chosenChecks(['reach'], 2)).not.toContain('bandwidth')
    expect(chosenChecks(parseSkip('all'), 2)).toEqual([])
    expect(chosenChecks(parseSkip('preflight'), 2)).toEqual([])
    expect(chosenChecks(parseSkip('shm, disk'), 2)).toEqual(ALL.filter((name) => name !== 'shm' && name !== 'disk'))
  })

  it('answers a name that there is not with the nearest', () => {
    const error = (() => {
      try {
        return parseSkip('shm,bandwith')
      } catch (caught) {
        return caught as CliError
      }
    })()
    expect(error).toMatchObject({code: 'USAGE', hint: '--skip bandwidth'})
  })
})
