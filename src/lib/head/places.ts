import {CliError, type Context, isLoopback} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
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
