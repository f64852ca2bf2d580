import {CliError} from '../base/index.ts'
import type {NodeRoute} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {GangAddresses} from './types.ts'

/**
 * Every node's own address on its way to the leader, and how many nodes share its machine. `towards`: run.route {to:
 * address of the leader}. Pure. Errors: NODE_UNFIT for a node without a route there.
 */
export function gangAddresses(
  nodes: Pick<RackNode, 'name' | 'address'>[],
  address: string,
  towards: ReadonlyMap<string, NodeRoute>,
): GangAddresses {
  const found: GangAddresses = {}
  for (const [index, node] of nodes.entries()) {
    const route = towards.get(node.name)
    const own = index === 0 ? address : (node.address ?? route?.source)
    if (!own) {
      throw new CliError('NODE_UNFIT', `${node.name} has no route to ${address}, the address of ${nodes[0]?.name}`, {
        hint: `set \`address:\` of ${nodes[0]?.name} and ${node.name} in the rack file`,
        details: {node: node.name},
      })
    }
    const machine = route?.machine
    found[node.name] = {
      address: own,
      neighbours: nodes.filter((other) => machine && towards.get(other.name)?.machine === machine).length || 1,
    }
  }
  return found
}
