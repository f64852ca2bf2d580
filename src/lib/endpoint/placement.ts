import {isIP} from 'node:net'
import {CliError} from '../base/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import {serviceId, type Replica} from './document.ts'

/** Replicas spread over the nodes in turn. */
export function placeReplicas(endpoint: string, release: string, nodes: RackNode[], count: number): Replica[] {
  return Array.from({length: count}, (_, index) => {
    const node = nodes[index % nodes.length]
    if (!node) throw new CliError('USAGE', `endpoint ${endpoint} has no node to run on`, {hint: '--on NODE'})
    return {index, node: node.name, service: serviceId(endpoint, release, index)}
  })
}

/**
 * The address a model server binds on a node, where the head reaches it: loopback on the head's own machine, else the
 * address the rack file gives. Never all interfaces: the model server itself asks for no token. RACK_INVALID without one.
 */
export function serverAddress(rack: Rack, node: RackNode): string {
  const head = rack.nodes.find((one) => one.name === rack.head.node)
  if (node.name === rack.head.node) return '127.0.0.1'
  if (node.address !== undefined) return node.address
  if (isLoopback(node.host) && head && isLoopback(head.host)) return '127.0.0.1'
  throw new CliError('RACK_INVALID', `node ${node.name} has no address at which the head (${rack.head.node}) could reach a model server`, {
    hint: `add "address: ADDRESS" to node ${node.name} in ${rack.path}`,
    details: {node: node.name},
  })
}

/** Base URL of a server. */
export function serverUrl(host: string, port: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}
