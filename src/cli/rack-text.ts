import type {NodeReport, Probe} from '../lib/nodes/index.ts'
import type {Rack, RackNode} from '../lib/rack/index.ts'
import {bytes, count, fields, table} from './render.ts'

export interface RackRow {
  name: string
  path: string
  nodes?: number
  head?: string
  /** Why the file cannot be used. */
  error?: string
}

export function rackListText(racks: RackRow[]): string {
  if (racks.length === 0) return 'There is no rack yet. Make one with: flexrack local up, or flexrack rack add NAME HOST...'
  return table(racks.map((rack) => ({rack: rack.name, nodes: rack.nodes?.toString(), head: rack.head, file: rack.path, problem: rack.error ?? ' '})), [
    'rack',
    {key: 'nodes', align: 'right'},
    'head',
    'file',
    ...(racks.some((rack) => rack.error) ? ['problem'] : []),
  ])
}

export function rackText(rack: Rack): string {
  const head = fields([['rack', rack.name], ['file', rack.path], ['head', `${rack.head.node}, ${rack.head.bind}${rack.head.port ? `:${rack.head.port}` : ''}`]])
  const rows = rack.nodes.map((node) => ({node: node.name, host: destination(node), address: node.address ?? ' ', root: node.root, labels: labelText(node) || ' '}))
  return `${head}\n\n${table(rows, ['node', 'host', 'address', 'root', 'labels'])}`
}

export function nodeText(node: RackNode): string {
  return fields([
    ['node', node.name],
    ['host', node.host],
    ['port', node.port],
    ['user', node.user],
    ['identity file', node.identityFile],
    ['proxy jump', node.proxyJump],
    ['known hosts', node.knownHosts],
    ['address', node.address],
    ['root', node.root],
    ['environments', node.environments],
    ['labels', labelText(node)],
  ])
}

export function probeText(reports: NodeReport<Probe>[]): string {
  const [only] = reports
  if (reports.length === 1 && only?.value) return probeFields(only.node, only.value)
  const rows = reports.map(({node, value, code}) => {
    if (!value) return {node, state: code ?? 'failed'}
    const {facts, clock} = value
    return {
      node,
      state: 'ok',
      cores: facts.cpu && String(facts.cpu.quota ?? facts.cpu.cores),
      memory: facts.memory && bytes(facts.memory.limit ?? facts.memory.total),
      'disk free': facts.disk && bytes(facts.disk.free),
      gpus: gpuText(value) || '0',
      python: facts.python && `${facts.python.version}${facts.python.venv ? '' : ' (no venv)'}`,
      address: ownAddresses(value)[0],
      clock: skewText(clock),
    }
  })
  return table(rows, ['node', 'state', {key: 'cores', align: 'right'}, {key: 'memory', align: 'right'}, {key: 'disk free', align: 'right'}, 'gpus', 'python', 'address', 'clock'])
}

function probeFields(node: string, probe: Probe): string {
  const {facts, clock} = probe
  const routes = Object.entries(facts.routes ?? {}).map(([peer, route]) => `${peer}: ${route.error ?? `${route.from} -> ${route.to} (${route.interface ?? '?'})`}`)
  return fields([
    ['node', node],
    ['host name', facts.hostname],
    ['user', facts.user],
    ['system', [facts.os, facts.kernel, facts.architecture].filter(Boolean).join(', ')],
    ['cores', facts.cpu && `${facts.cpu.cores}${facts.cpu.quota ? ` (${facts.cpu.quota} allowed)` : ''}, ${count(facts.cpu.numa_nodes, 'NUMA node')}${facts.cpu.model ? `, ${facts.cpu.model}` : ''}`],
    ['memory', facts.memory && `${bytes(facts.memory.available)} of ${bytes(facts.memory.limit ?? facts.memory.total)} free`],
    ['disk', facts.disk && `${bytes(facts.disk.free)} of ${bytes(facts.disk.total)} free at ${facts.disk.path}${facts.disk.writable ? '' : ', not writable'}`],
    ['python', facts.python && `${facts.python.version}, ${facts.python.path}${facts.python.venv ? '' : ', no venv'}`],
    ['gpus', facts.gpus?.map((gpu) => `${gpu.index}: ${gpu.name}${gpu.memory ? `, ${bytes(gpu.memory)}` : ''}, driver ${gpu.driver}`).join('\n') || 'none'],
    ['containers', facts.containers?.join(', ')],
    ['slurm', facts.slurm ?? undefined],
    ['interfaces', facts.interfaces?.map((one) => `${one.name}: ${one.addresses.join(', ')}${one.speed ? `, ${one.speed} Mbit/s` : ''}`).join('\n')],
    ['routes', routes.join('\n')],
    ['clock', skewText(clock)],
    ['root', facts.root],
    ['not measured', Object.entries(facts.missing).map(([what, why]) => `${what}: ${why}`).join('\n')],
  ])
}

function gpuText({facts}: Probe): string {
  const names = new Map<string, number>()
  for (const gpu of facts.gpus ?? []) names.set(gpu.name, (names.get(gpu.name) ?? 0) + 1)
  return [...names].map(([name, number]) => `${number} x ${name}`).join(', ')
}

function ownAddresses({facts}: Probe): string[] {
  return (facts.interfaces ?? []).filter((one) => one.name !== 'lo' && one.up).flatMap((one) => one.addresses.map((address) => address.replace(/\/.*$/, '')))
}

/** `in step`, or how far the clock is off where that is sure. */
export function skewText({ahead, within}: Probe['clock']): string {
  const sure = Math.abs(ahead) - within
  if (sure < 0.5) return 'in step'
  return `${Math.abs(ahead).toFixed(1)} s ${ahead > 0 ? 'ahead' : 'behind'}`
}

function destination(node: RackNode): string {
  const host = node.host.includes(':') && node.port ? `[${node.host}]` : node.host
  return `${node.user ? `${node.user}@` : ''}${host}${node.port ? `:${node.port}` : ''}`
}

function labelText(node: RackNode): string {
  return Object.entries(node.labels).map(([label, value]) => `${label}=${value}`).join(' ')
}
