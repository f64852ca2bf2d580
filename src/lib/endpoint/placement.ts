import {isIP} from 'node:net'
import {CliError, isLoopback} from '../base/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Replica} from './document.ts'

export const LOOPBACK = '127.0.0.1'

export function serviceId(endpoint: string, release: string, index: number): string {
  return `endpoint-${endpoint}-${release}-${index}`
}

/** Replicas spread over the nodes in turn. */
export function placeReplicas(endpoint: string, release: string, nodes: RackNode[], count: number): Replica[] {
  return Array.from({length: count}, (_, index) => {
    const node = nodes[index % nodes.length]
    if (!node) throw new CliError('USAGE', `endpoint ${endpoint} has no node to run on`, {hint: '--on NODE'})
    return {index, node: node.name, service: serviceId(endpoint, release, index)}
  })
}

/**
 * The address at which the head reaches a model server on a node: loopback on its own machine, where the server listens
 * itself; else that of the front before it, which the rack file gives, or `route` (the node's own address on its way to
 * the head). RACK_INVALID without one.
 */
export function serverAddress(rack: Rack, node: RackNode, route?: string | null): string {
  if (isNearHead(rack, node)) return LOOPBACK
  if (node.address !== undefined) return node.address
  if (route && !isLoopback(route)) return route
  throw new CliError(
    'RACK_INVALID',
    `node ${node.name} has no address at which the head (${rack.head.node}) could reach a model server`,
    {
      hint: `add "address: ADDRESS" to node ${node.name} in ${rack.path}`,
      details: {node: node.name},
    },
  )
}

/** True on the head's own machine, and a standby's: every gateway reaches what listens on loopback there. */
export function isNearHead(rack: Rack, node: RackNode): boolean {
  return [rack.head.node, rack.head.standby].every((name) => {
    const head = rack.nodes.find((one) => one.name === name)
    return name === undefined || node.name === name || (isLoopback(node.host) && !!head && isLoopback(head.host))
  })
}

/** Base URL of a server, or of the front before it. */
export function serverUrl(host: string, port: number, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}
