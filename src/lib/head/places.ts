import {CliError, type Context, isLoopback} from '../base/index.ts'
import {openHost, serviceStatus, type Host} from '../host/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'

/** Id of the head's service on its node; a standby's is the same on another node. */
export const SERVICE_ID = 'head'

/** Which of a rack's two heads. */
export type Role = 'first' | 'standby'

/** The node of a head. Errors: RACK_INVALID where the rack has none of that name, NOT_FOUND where it has no standby. */
export function headNode(rack: Rack, role: Role = 'first'): RackNode {
  if (role === 'first') return nodeNamed(rack, rack.head.node)
  if (rack.head.standby !== undefined) return nodeNamed(rack, rack.head.standby)
  throw new CliError('NOT_FOUND', `rack ${rack.name} has no standby`, {
    hint: `add "standby: NODE" to head in ${rack.path}, then flexrack head start`,
  })
}

export function nodeNamed(rack: Rack, name: string): RackNode {
  const node = rack.nodes.find((one) => one.name === name)
  if (node) return node
  throw new CliError('RACK_INVALID', `${rack.path}: head.node ${name} is not a node of the rack`, {
    hint: `flexrack rack show ${rack.name}`,
  })
}

/** The node that runs a head, with the node program in place. */
export async function openHeadHost(rack: Rack, fleet: Fleet, context: Context, role: Role = 'first'): Promise<Host> {
  return openHost(fleet, headNode(rack, role), context)
}

/** Both heads are on one machine: what listens on loopback is there for both. */
export function areNear(one: RackNode, other: RackNode): boolean {
  return one.name === other.name || one.host === other.host || (isLoopback(one.host) && isLoopback(other.host))
}

/** What a head is called by, where it binds this address; an address that stands for all is not one to call. */
export function calledBy(node: RackNode, bind: string): string {
  return ['0.0.0.0', '::'].includes(bind) ? (node.address ?? node.host) : bind
}

export interface HeadAccess {
  listener: {address: string; port: number; url: string}
  token: string
  /** PEM. */
  ca: string
  /** Whether it has quotas; undefined: who has logged in cannot see that. */
  quotas?: boolean
}

/**
 * What whoever may enter the head's account knows of it. Errors: NOT_FOUND where it was never started or was stopped,
 * HEAD_FAILED where it ended again and again, or is of an older version.
 */
export async function headAccess(rack: Rack, host: Host, role: Role = 'first'): Promise<HeadAccess> {
  const what = role === 'first' ? 'head' : 'standby'
  const [{listener, token, ca, quotas = false}, service] = await Promise.all([
    host.call('head.access', {}),
    serviceStatus(host, SERVICE_ID),
  ])
  const hint = `flexrack head start --rack ${rack.name}`
  if (service.state === 'failed')
    throw new CliError('HEAD_FAILED', `the ${what} of rack ${rack.name} ended again and again`, {
      hint: 'flexrack head status',
      details: {node: host.node},
    })
  if (!listener || !token || ['absent', 'stopped', 'lost'].includes(service.state)) {
    throw new CliError('NOT_FOUND', `rack ${rack.name} has no ${what} running`, {hint, details: {node: host.node}})
  }
  // One of an older version speaks no TLS.
  if (!ca || listener.address === undefined)
    throw new CliError('HEAD_FAILED', `the head of rack ${rack.name} is of an older version`, {
      hint,
      details: {node: host.node},
    })
  return {listener: {address: listener.address, port: listener.port, url: listener.url}, token, ca, quotas}
}
