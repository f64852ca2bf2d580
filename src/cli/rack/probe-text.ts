import {count, sizeText} from '../../lib/base/index.ts'
import type {NodeReport, Probe} from '../../lib/nodes/index.ts'
import type {NodeFacts} from '../../lib/protocol/index.ts'
import {
  findBadWiring,
  linkRank,
  linkText,
  readTopology,
  type Link,
  type NicPlace,
  type Topology,
} from '../../lib/topology/index.ts'
import {fields, table} from '../terminal/render.ts'

/**
 * A line a node, or of one node all that there is. `width`: columns of the screen; what matters least is left out where
 * they do not suffice.
 */
export function probeText(reports: NodeReport<Probe>[], width?: number): string {
  const [only] = reports
  if (reports.length === 1 && only?.value) return probeFields(only.node, only.value)
  const rows = reports.map(({node, value, code}) =>
    value ? {node, state: 'ok', ...probeRow(value)} : {node, state: code ?? 'failed'},
  )
  const wrong = reports.flatMap(({node, value}) => (value && badWiring(value) > 0 ? [node] : []))
  const columns = [
    'node',
    'state',
    {key: 'cores', align: 'right' as const},
    {key: 'memory', align: 'right' as const},
    {key: 'disk free', align: 'right' as const, spare: true},
    'gpus',
    'links',
    {key: 'network', spare: true},
    {key: 'python', spare: true},
    {key: 'address', spare: true},
    'clock',
  ]
  return [
    table(rows, columns, width),
    ...(wrong.length > 0
      ? [
          `Badly wired: ${wrong.join(', ')}. What it is says: flexrack rack show ${wrong.length === 1 ? wrong[0] : 'NODE'} --topology`,
        ]
      : []),
  ].join('\n\n')
}

function probeRow({facts, clock}: Probe): Record<string, string | undefined> {
  const topology = readTopology(facts)
  return {
    cores: facts.cpu && String(facts.cpu.quota ?? facts.cpu.cores),
    memory: facts.memory && sizeText(facts.memory.limit ?? facts.memory.total),
    'disk free': facts.disk && sizeText(facts.disk.free),
    gpus: facts.gpus && (gpuText(topology) || '0'),
    links: linksText(topology),
    network: networkText(topology),
    python: facts.python && `${facts.python.version}${facts.python.venv ? '' : ' (no venv)'}`,
    address: ownAddresses(facts)[0],
    clock: skewText(clock),
  }
}

function badWiring({facts}: Probe): number {
  return findBadWiring(readTopology(facts), facts.cpu?.allowed).length
}

function probeFields(node: string, probe: Probe): string {
  const {facts, clock} = probe
  const routes = Object.entries(facts.routes ?? {}).map(
    ([peer, route]) => `${peer}: ${route.error ?? `${route.from} -> ${route.to} (${route.interface ?? '?'})`}`,
  )
  const wrong = badWiring(probe)
  const topology = readTopology(facts)
  return fields([
    ['node', node],
    ['host name', facts.hostname],
    ['user', facts.user],
    ['system', [facts.os, facts.kernel, facts.architecture].filter(Boolean).join(', ')],
    [
      'cores',
      facts.cpu &&
        [
          `${facts.cpu.cores}${facts.cpu.quota ? ` (${facts.cpu.quota} allowed)` : ''}`,
          ...(facts.cpu.sockets ? [count(facts.cpu.sockets, 'socket')] : []),
          count(facts.cpu.numa_nodes, 'NUMA node'),
          ...(facts.cpu.model ? [facts.cpu.model] : []),
        ].join(', '),
    ],
    [
      'memory',
      facts.memory &&
        `${sizeText(facts.memory.available)} of ${sizeText(facts.memory.limit ?? facts.memory.total)} free${facts.memory.shared === undefined ? '' : `, /dev/shm ${sizeText(facts.memory.shared)}`}`,
    ],
    [
      'disk',
      facts.disk &&
        `${sizeText(facts.disk.free)} of ${sizeText(facts.disk.total)} free at ${facts.disk.path}${facts.disk.writable ? '' : ', not writable'}`,
    ],
    ['python', facts.python && `${facts.python.version}, ${facts.python.path}${facts.python.venv ? '' : ', no venv'}`],
    ['gpus', facts.gpus && (facts.gpus.map(gpuLine).join('\n') || 'none')],
    ['links', linksText(topology)],
    [
      'shared gpus',
      facts.gpu_daemon?.devices
        .map(
          (one) =>
            `${one.index}: ${one.name}, ${one.whole ? 'taken' : `${sizeText(one.free.memory)} of ${sizeText(one.memory)} and ${Math.round(one.free.compute * 100)} % of its time free`}`,
        )
        .join('\n'),
    ],
    [
      'rdma',
      facts.infiniband
        ?.map(
          (one) =>
            `${one.device} port ${one.port}: ${[one.link, one.state, one.rate && `${one.rate} Gbit/s`, one.netdev].filter(Boolean).join(', ')}`,
        )
        .join('\n'),
    ],
    ['containers', facts.containers?.map((one) => [one.name, one.version].filter(Boolean).join(' ')).join(', ')],
    ['slurm', slurmText(facts)],
    ['limits', limitsText(facts)],
    ['interfaces', facts.interfaces?.map((one) => interfaceLine(one, facts)).join('\n')],
    ['routes', routes.join('\n')],
    ['clock', skewText(clock)],
    ['root', facts.root],
    ['badly wired', wrong > 0 ? `${count(wrong, 'thing')}; flexrack rack show ${node} --topology` : undefined],
    [
      'not measured',
      Object.entries(facts.missing)
        .map(([what, why]) => `${what}: ${why}`)
        .join('\n'),
    ],
  ])
}

function gpuLine(gpu: NonNullable<NodeFacts['gpus']>[number]): string {
  const parts = gpu.mig?.length
    ? [`in ${count(gpu.mig.length, 'part')}: ${[...new Set(gpu.mig.map((one) => one.profile))].join(', ')}`]
    : []
  const free = gpu.free === undefined || gpu.free === null ? [] : [`${sizeText(gpu.free)} free`]
  return `${gpu.index}: ${[gpu.name, ...(gpu.memory ? [sizeText(gpu.memory)] : []), ...free, `driver ${gpu.driver}`, gpu.bus, ...(gpu.numa_node === undefined ? [] : [`NUMA node ${gpu.numa_node}`]), ...parts].join(', ')}`
}

function interfaceLine(one: NonNullable<NodeFacts['interfaces']>[number], facts: NodeFacts): string {
  const nic = facts.nics?.find((each) => each.name === one.name)
  const reported = [
    one.speed && `${one.speed} Mbit/s`,
    nic && nic.kind !== 'physical' ? nic.kind : nic?.driver,
    nic?.numa_node === undefined ? undefined : `NUMA node ${nic.numa_node}`,
    !one.up && 'down',
  ]
  return `${one.name}: ${[one.addresses.join(', '), ...reported].filter(Boolean).join(', ')}`
}

function slurmText({slurm}: NodeFacts): string | undefined {
  if (!slurm) return undefined
  const partitions = slurm.partitions
    ?.map((one) => `${one.name}${one.default ? '*' : ''}${one.up ? '' : ' (down)'}`)
    .join(', ')
  const own =
    slurm.node === undefined
      ? undefined
      : slurm.node
        ? `this node is ${slurm.node.name}, ${slurm.node.state}`
        : 'this node is not one of its nodes'
  return [slurm.version ?? 'there', slurm.problem, partitions && `partitions ${partitions}`, own]
    .filter(Boolean)
    .join('; ')
}

function limitsText({limits}: NodeFacts): string | undefined {
  if (!limits) return undefined
  const {open_files: files, locked_memory: locked, processes} = limits
  return `${files.soft ?? 'unlimited'} open files, ${locked.soft === null ? 'unlimited' : sizeText(locked.soft)} locked memory, ${processes.soft ?? 'unlimited'} processes`
}

/** `8 x H100 80GB HBM3` */
export function gpuText({gpus}: Topology): string {
  const names = new Map<string, number>()
  for (const {name} of gpus) names.set(name, (names.get(name) ?? 0) + 1)
  return [...names].map(([name, number]) => `${number} x ${modelText(name)}`).join(', ')
}

/** Without the maker's name: screens are narrow. */
export function modelText(name: string): string {
  return name.replace(/^NVIDIA (GeForce )?/, '')
}

/** Between the GPUs, from the best to the worst: `NV18`, `PIX to SYS`. */
function linksText({links}: Topology): string | undefined {
  const ordered = links
    .flat()
    .filter((link): link is Link => link !== null)
    .toSorted((a, b) => linkRank(b) - linkRank(a))
  const [best, worst] = [ordered[0], ordered.at(-1)].map((link) => link && linkText(link))
  return best === worst ? best : `${best} to ${worst}`
}

/** The fastest cards that are up: `8 x 400G InfiniBand`, `25G`. */
function networkText({nics}: Topology): string | undefined {
  const up = nics.filter((nic): nic is NicPlace & {speed: number} => nic.up === true && nic.speed !== null)
  const rdma = up.filter((nic) => nic.kind !== 'ethernet')
  const fit = rdma.length > 0 ? rdma : up
  const speed = Math.max(0, ...fit.map((nic) => nic.speed))
  const fastest = fit.filter((nic) => nic.speed === speed)
  const [first] = fastest
  if (!first) return undefined
  const kind = {infiniband: ' InfiniBand', roce: ' RoCE', ethernet: '', unknown: ''}[first.kind]
  return `${fastest.length > 1 ? `${fastest.length} x ` : ''}${speed}G${kind}`
}

function ownAddresses({interfaces}: NodeFacts): string[] {
  return (interfaces ?? [])
    .filter((one) => one.name !== 'lo' && one.up)
    .flatMap((one) => one.addresses.map((address) => address.replace(/\/.*$/, '')))
}

/** `in step`, or how far the clock is off where that is sure. */
function skewText({ahead, within}: Probe['clock']): string {
  const sure = Math.abs(ahead) - within
  if (sure < 0.5) return 'in step'
  return `${Math.abs(ahead).toFixed(1)} s ${ahead > 0 ? 'ahead' : 'behind'}`
}
