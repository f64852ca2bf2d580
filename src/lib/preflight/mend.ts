import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {overNodes, type NodeReport} from '../nodes/index.ts'
import type {Mendable, Mended} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'

/**
 * With less than this free, what nothing uses is on the list, too: an environment with PyTorch for GPUs needs about 6
 * GiB.
 */
const ROOM = 5 * 1024 ** 3

/** Looks at the nodes for what can be put right; changes nothing. */
export async function findMendable(
  nodes: RackNode[],
  project: string | undefined,
  fleet: Fleet,
  ctx: Context,
): Promise<NodeReport<Mendable[]>[]> {
  return overNodes('Looking for what can be mended on', nodes, fleet, ctx, async (node) => {
    const host = await openHost(fleet, node, ctx)
    const {items} = await host.call(
      'preflight.mendable',
      {room: ROOM, ...(project !== undefined && {project})},
      {signal: ctx.signal},
    )
    return items
  })
}

/** Puts right what was found; each node looks again first, and what has come into use stays. */
export async function mendNodes(
  nodes: RackNode[],
  found: NodeReport<Mendable[]>[],
  fleet: Fleet,
  ctx: Context,
): Promise<NodeReport<Mended[]>[]> {
  const wanted = new Map(found.map(({node, value}) => [node, (value ?? []).map(({kind, name}) => ({kind, name}))]))
  const concerned = nodes.filter((node) => (wanted.get(node.name) ?? []).length > 0)
  return overNodes('Mending', concerned, fleet, ctx, async (node) => {
    const host = await openHost(fleet, node, ctx)
    const {done} = await host.call('preflight.mend', {items: wanted.get(node.name) ?? []}, {signal: ctx.signal})
    return done
  })
}
