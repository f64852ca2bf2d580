import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {overNodes, type NodeReport} from '../nodes/index.ts'
import type {NodeReservations} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'

/** Who has what on each node now, and who waits; a node that does not answer is reported as such. Changes nothing. */
export async function readReservations(
  nodes: RackNode[],
  fleet: Fleet,
  context: Context,
): Promise<NodeReport<NodeReservations>[]> {
  return overNodes('Asking for reservations:', nodes, fleet, context, async (node) => {
    const host = await openHost(fleet, node, context)
    return host.call('reservation.list', null, {signal: context.signal})
  })
}
