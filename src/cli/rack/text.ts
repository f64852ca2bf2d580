import type {Rack, RackNode} from '../../lib/rack/index.ts'
import {fields, table} from '../terminal/render.ts'

export interface RackRow {
  name: string
  path: string
  nodes?: number
  head?: string
  /** Why the file cannot be used. */
  error?: string
}

export function rackListText(racks: RackRow[]): string {
  if (racks.length === 0)
    return 'There is no rack yet. Make one with: flexrack local up, or flexrack rack add NAME HOST...'
  return table(
    racks.map((rack) => ({
      rack: rack.name,
      nodes: rack.nodes?.toString(),
      head: rack.head,
      file: rack.path,
      problem: rack.error ?? ' ',
    })),
    ['rack', {key: 'nodes', align: 'right'}, 'head', 'file', ...(racks.some((rack) => rack.error) ? ['problem'] : [])],
  )
}

export function rackText(rack: Rack): string {
  const head = fields([
    ['rack', rack.name],
    ['file', rack.path],
    [
      'head',
      `${rack.head.node}, ${rack.head.bind ?? 'address by route'}${rack.head.port ? `, port ${rack.head.port}` : ''}`,
    ],
  ])
  const rows = rack.nodes.map((node) => ({
    node: node.name,
    host: destination(node),
    address: node.address ?? ' ',
    root: node.root,
    until: node.until ?? ' ',
    labels: labelText(node) || ' ',
  }))
  const volumes = Object.entries(rack.volumes ?? {}).map(([volume, one]) => ({
    volume,
    path: one.path,
    kind: one.kind,
    nodes: one.nodes ?? 'all',
    access: one.read_only ? 'read' : 'read, write',
  }))
  const more = volumes.length > 0 ? `\n\n${table(volumes, ['volume', 'path', 'kind', 'nodes', 'access'])}` : ''
  return `${head}\n\n${table(rows, ['node', 'host', 'address', 'root', ...(rack.nodes.some((node) => node.until) ? ['until'] : []), 'labels'])}${more}`
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
    ['network', node.network],
    ['root', node.root],
    ['environments', node.environments],
    ['until', node.until],
    ['labels', labelText(node)],
  ])
}

function destination(node: RackNode): string {
  const host = node.host.includes(':') && node.port ? `[${node.host}]` : node.host
  return `${node.user ? `${node.user}@` : ''}${host}${node.port ? `:${node.port}` : ''}`
}

function labelText(node: RackNode): string {
  return Object.entries(node.labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(' ')
}
