import type {Context} from '../../lib/base/index.ts'
import type {RackNode} from '../../lib/rack/index.ts'
import type {Shares} from '../../lib/share/index.ts'
import {openSession, requireNode, type SessionFlags} from '../base/session.ts'

export interface OpenShares {
  node: RackNode
  shares: Shares
}

/** The shares of the node that is meant: of its own name, else the rack's first. */
export async function openNodeShares(
  flags: SessionFlags & {node?: string | undefined},
  context: Context,
): Promise<OpenShares> {
  const [{rack, fleet}, {openShares}] = await Promise.all([
    openSession(flags, context),
    import('../../lib/share/index.ts'),
  ])
  const node = flags.node === undefined ? (rack.nodes[0] as RackNode) : requireNode(rack, flags.node)
  return {node, shares: openShares(fleet, node, context)}
}
