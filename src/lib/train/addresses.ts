import type {Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import {addressForOthers, askRoute} from '../route/index.ts'
import type {NodeRoute} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import {gangAddresses} from './route.ts'
import type {GangAddresses} from './types.ts'

/**
 * Asks the nodes at which addresses they reach the first of them, and it them: once where the rack file has its
 * address, else twice. Errors: NODE_UNFIT, see route.ts.
 */
export async function findAddresses(
  nodes: Pick<RackNode, 'name' | 'address'>[],
  hosts: Host[],
  context: Context,
): Promise<GangAddresses> {
  const ask = async (to: string | undefined): Promise<Map<string, NodeRoute>> =>
    new Map(
      await Promise.all(hosts.map(async (host) => [host.node, await askRoute(host, to, context.signal)] as const)),
    )
  const address = nodes[0]?.address ?? addressForOthers(nodes, await ask(undefined))
  return gangAddresses(nodes, address, await ask(address))
}
