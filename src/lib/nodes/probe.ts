import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import type {RackNode} from '../rack/index.ts'
import {forEachNode, type Fleet} from '../ssh/index.ts'
import type {NodeFacts} from './facts.ts'
import {makeReports, type NodeReport} from './report.ts'

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
}

/** Measures every node, in parallel. Never throws for a node: what it could not do is in its report. */
export async function probeNodes(nodes: RackNode[], fleet: Fleet, ctx: Context, options: ProbeOptions = {}): Promise<NodeReport<Probe>[]> {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const peers = Object.fromEntries((options.peers ?? []).map((peer) => [peer.name, peer.address ?? peer.host]))
  const progress = ctx.reporter.begin(`Measuring ${nodes.length} node${nodes.length === 1 ? '' : 's'}`)
  let measured = 0
  const outcome = await forEachNode(fleet, [...byName.keys()], async (_shell, name) => {
    try {
      const {[name]: _self, ...others} = peers
      return await probeNode(byName.get(name) as RackNode, others, fleet, ctx)
    } finally {
      progress.amount(++measured, nodes.length, 'nodes')
    }
  })
  if (outcome.failed.size > 0) progress.fail(`Measured ${outcome.done.size} of ${nodes.length} nodes`)
  else progress.done()
  return makeReports([...byName.keys()], outcome)
}

async function probeNode(node: RackNode, peers: Record<string, string>, fleet: Fleet, ctx: Context): Promise<Probe> {
  const host = await openHost(fleet, node, ctx)
  const before = Date.now()
  const facts = await host.call<NodeFacts>('node.facts', {peers}, {signal: ctx.signal})
  const after = Date.now()
  // The clock is read last on the node; the answer travels back in at most the time of the whole call.
  const within = (after - before) / 2000
  return {facts, clock: {ahead: facts.clock - (before + after) / 2000, within}, roundTrip: after - before}
}
