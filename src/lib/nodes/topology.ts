import type {Context} from '../base/index.ts'
import type {NodeFacts} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {findBadWiring, readTopology, type BadWiring, type Topology} from '../topology/index.ts'
import {probeNodes} from './probe.ts'
import type {NodeReport} from './report.ts'

/** How one node is wired, as it was measured now. */
export interface NodeTopology {
  topology: Topology
  /** What is badly wired, the worst first. */
  findings: BadWiring[]
  facts: NodeFacts
}

/**
 * Measures the nodes, in parallel, and makes their topologies. Never throws for a node: what it could not do is in its
 * report.
 */
export async function showTopologies(
  nodes: RackNode[],
  fleet: Fleet,
  ctx: Context,
): Promise<NodeReport<NodeTopology>[]> {
  const reports = await probeNodes(nodes, fleet, ctx)
  return reports.map(({value, ...report}) => (value ? {...report, value: topologyOf(value.facts)} : report))
}

function topologyOf(facts: NodeFacts): NodeTopology {
  const topology = readTopology(facts)
  return {topology, findings: findBadWiring(topology, facts.cpu?.allowed), facts}
}
