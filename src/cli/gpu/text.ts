import {count, sizeText} from '../../lib/base/index.ts'
import type {GpuDevice, GpuNodeReport, GpuReport, Lease, MovedLease, Served, Turns} from '../../lib/gpu/index.ts'
import type {NodeReport} from '../../lib/nodes/index.ts'
import type {Withdrawn} from '../../lib/protocol/index.ts'
import {paint} from '../terminal/print.ts'
import {ago, table, type Column} from '../terminal/render.ts'

/** Every device in a line of its own, then the nodes that have none to show. */
export function gpuListText({nodes, devices}: Pick<GpuReport, 'nodes' | 'devices'>): string {
  const columns: (string | Column)[] = [
    'node',
    {key: 'gpu', align: 'right'},
    {key: 'name', spare: true},
    'api',
    {key: 'driver', title: 'VERSION', spare: true},
    {key: 'memory', align: 'right'},
    {key: 'used', align: 'right', spare: true},
    {key: 'free', align: 'right'},
    {key: 'time', title: 'TIME FREE', align: 'right', spare: true},
    {key: 'busy', align: 'right', spare: true},
    'holders',
  ]
  const list = table(devices.map(deviceRow), columns)
  const rest = nodesText(nodes)
  return [list, rest].filter((part) => part !== '').join('\n\n')
}

function deviceRow(device: GpuDevice): Record<string, string> {
  return {
    node: device.node,
    gpu: String(device.index),
    name: device.name,
    api: apiText(device),
    driver: device.driver,
    memory: sizeText(device.memory),
    used: sizeText(device.used),
    free: device.whole ? paint.dim('none') : sizeText(device.free.memory),
    time: percent(device.whole ? 0 : device.free.compute),
    busy: percent(device.utilisation),
    holders:
      device.holders
        .map(
          (one) =>
            `${one.owner}${one.whole ? '' : ` ${sizeText(one.memory)}`}${one.turns ? ` (${turnsText(one.turns)})` : ''}`,
        )
        .join(', ') || paint.dim('nobody'),
  }
}

/** `opencl`, or `cuda 9.0`: with the compute capability. */
export function apiText({api, capability}: Pick<GpuDevice, 'api' | 'capability'>): string {
  return capability === null ? api : `${api} ${capability}`
}

/** Who has what, since when. */
export function leasesText({leases, nodes}: {leases: Lease[]; nodes: GpuNodeReport[]}): string {
  const rows = leases.map((lease) => ({
    lease: lease.lease.slice(0, 8),
    node: lease.node,
    gpus: lease.devices.map((one) => one.index).join(','),
    share: shareText(lease),
    used: sizeText(lease.devices.reduce((sum, one) => sum + one.used, 0)),
    owner: lease.owner,
    purpose: lease.purpose,
    state: stateText(lease),
    since: ago(lease.created * 1000),
  }))
  const list =
    rows.length === 0
      ? 'Nobody has a lease.'
      : table(rows, [
          'lease',
          'node',
          'gpus',
          'share',
          {key: 'used', align: 'right', spare: true},
          'owner',
          {key: 'purpose', spare: true},
          'state',
          {key: 'since', spare: true},
        ])
  return [list, nodesText(nodes.filter((node) => node.state === 'failed'))].filter((part) => part !== '').join('\n\n')
}

export function shareText({devices}: Pick<Lease, 'devices'>): string {
  const [first] = devices
  if (!first) return '-'
  return first.whole
    ? 'whole'
    : `${sizeText(first.memory)}, ${percent(first.compute)}${first.cap ? ' at most' : ''}${first.turns ? `, ${turnsText(first.turns)}` : ''}`
}

function stateText({state, programs, endsIn}: Lease): string {
  if (state === 'held') return programs > 0 ? paint.green(count(programs, 'program')) : 'held'
  return paint.yellow(
    `${state === 'lost' ? 'lost' : 'not held yet'}${endsIn === null ? '' : `, ends in ${Math.ceil(endsIn)} s`}`,
  )
}

/** Nodes that share nothing, and why; empty where all do. */
export function nodesText(nodes: GpuNodeReport[]): string {
  const failed = nodes
    .filter((node) => node.state === 'failed')
    .map((node) => `${node.node}: ${paint.red(node.code ?? 'failed')} ${node.message ?? ''}`)
  const stopped = nodes.filter((node) => node.state === 'stopped').map((node) => node.node)
  const absent = nodes.filter((node) => node.state === 'absent').map((node) => node.node)
  const hints = [...new Set(nodes.flatMap((node) => (node.hint === undefined ? [] : [node.hint])))].map(
    (hint) => `${paint.cyan('try:')} ${hint}`,
  )
  return [
    ...failed,
    ...(stopped.length > 0
      ? [
          paint.yellow(
            `The GPU daemon does not run on ${names(stopped)}. Start it with: flexrack gpu serve ${stopped.length > 3 ? '' : stopped.join(' ')}`.trimEnd(),
          ),
        ]
      : []),
    ...(absent.length > 0
      ? [
          `${names(absent)} ${absent.length === 1 ? 'shares' : 'share'} no GPU. To share: flexrack gpu serve ${absent.length > 3 ? '' : absent.join(' ')}`.trimEnd(),
        ]
      : []),
    ...hints,
  ].join('\n')
}

function names(all: string[]): string {
  return all.length > 6 ? `${all.slice(0, 5).join(', ')} and ${all.length - 5} more` : all.join(', ')
}

/** Where leases have gone, and how long their programs waited. */
export function movedText(moved: MovedLease[]): string {
  if (moved.length === 0) return 'Nobody has a lease there.'
  return table(
    moved.map((one) => ({
      lease: one.lease.slice(0, 8),
      from: one.from,
      to: one.to,
      became: one.became.slice(0, 8),
      programs: String(one.programs),
      pause: `${one.pauseSeconds.toFixed(2)} s`,
    })),
    ['lease', 'from', 'to', 'became', {key: 'programs', align: 'right'}, {key: 'pause', align: 'right'}],
  )
}

export function servedText(served: Served[]): string {
  const rows = served.map((one) => ({
    node: one.node,
    state: one.started ? paint.green('started') : 'was running',
    backend: one.backend,
    port: String(one.port),
    pid: String(one.pid),
    'kept by': one.keeper === 'systemd' ? 'systemd (user unit)' : 'flexrack',
  }))
  return `${table(rows, ['node', 'state', 'backend', {key: 'port', align: 'right'}, {key: 'pid', align: 'right'}, 'kept by'])}\n\nSee what is shared with: flexrack gpu list`
}

export function withdrawnText(reports: NodeReport<Withdrawn>[]): string {
  return reports
    .map(
      ({node, value}) =>
        `${node}: ${value?.stopped ? `the GPU daemon is gone${value.leases > 0 ? `, and ${count(value.leases, 'lease')} with it` : ''}` : 'there was none'}`,
    )
    .join('\n')
}

export function releasedText(leases: Lease[]): string {
  return leases.map(({lease, node, owner}) => `Lease ${lease.slice(0, 8)} of ${owner} on ${node} has ended.`).join('\n')
}

/** How a lease that takes turns is: `on the GPU`, `swapped out`. */
export function turnsText({standing}: Turns): string {
  const words = {in: 'on the GPU', out: 'swapped out', waits: 'waits for its turn', thrashes: 'THRASHES'}
  return words[standing]
}

/** 0.0123 as "12 ms": two digits, for times of kernels. */
export function shortText(seconds: number): string {
  if (seconds >= 10) return `${Math.round(seconds)} s`
  if (seconds >= 0.9995) return `${seconds.toFixed(1)} s`
  if (seconds >= 0.0095) return `${Math.round(seconds * 1000)} ms`
  return seconds >= 0.00095 ? `${(seconds * 1000).toFixed(1)} ms` : `${Math.round(seconds * 1e6)} µs`
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
