import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import type {NodeFacts} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {overNodes} from './each.ts'
import type {NodeReport} from './report.ts'

export interface Probe {
  facts: NodeFacts
  /** Seconds by which the node's clock is ahead of ours, and how sure that is. */
  clock: {ahead: number; within: number}
  /** Milliseconds of one call to the node program on a connection that is there. */
  roundTrip: number
}

export interface ProbeOptions {
  /** Nodes whose routes to each other are wanted; none by default. */
  peers?: RackNode[]
  /** Addresses and ports by name of the node; which of them are taken is told. */
  ports?: Record<string, [address: string, port: number][]>
}

/** Measures every node, in parallel. Never throws for a node: what it could not do is in its report. */
export async function probeNodes(
  nodes: RackNode[],
  fleet: Fleet,
  ctx: Context,
  options: ProbeOptions = {},
): Promise<NodeReport<Probe>[]> {
  const peers = Object.fromEntries((options.peers ?? []).map((peer) => [peer.name, peer.address ?? peer.host]))
  return overNodes('Measuring', nodes, fleet, ctx, (node) => {
    const {[node.name]: _self, ...others} = peers
    return probeNode(node, {peers: others, ports: options.ports?.[node.name] ?? []}, fleet, ctx)
  })
}

async function probeNode(
  node: RackNode,
  input: {peers: Record<string, string>; ports: [string, number][]},
  fleet: Fleet,
  ctx: Context,
): Promise<Probe> {
  const host = await openHost(fleet, node, ctx)
  const before = Date.now()
  const facts = await host.call('node.facts', input, {signal: ctx.signal})
  const after = Date.now()
  // The clock is read last on the node; the answer travels back in at most the time of the whole call.
  const within = (after - before) / 2000
  return {facts, clock: {ahead: facts.clock - (before + after) / 2000, within}, roundTrip: after - before}
}
