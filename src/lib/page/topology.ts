import {CliError, type Context} from '../base/index.ts'
import type {PageTopology} from '../head/index.ts'
import {showTopologies, type NodeTopology} from '../nodes/index.ts'
import {linkText} from '../topology/index.ts'
import type {PagePlace} from './answers.ts'

/** How one node is wired, measured now. Errors: NOT_FOUND; those of the node. */
export async function topologyOf({rack, fleet}: PagePlace, name: string, context: Context): Promise<PageTopology> {
  const node = rack.nodes.find((one) => one.name === name)
  if (!node) throw new CliError('NOT_FOUND', `rack ${rack.name} has no node ${name}`)
  const [report] = await showTopologies([node], fleet, context)
  if (!report?.value) throw new CliError('REMOTE_FAILED', report?.message ?? `${name} tells nothing of itself`)
  return topologyFacts(name, report.value)
}

/** What the page shows of it. Pure. */
function topologyFacts(node: string, {topology, findings}: NodeTopology): PageTopology {
  const {gpus, nics, numa, links, nicLinks, source} = topology
  return {
    node,
    source,
    numa: numa.map((one) => ({node: one.node, cpus: one.cpus, memory: one.memory})),
    gpus: gpus.map(({index, name, memory, numaNode, nic}) => ({index, name, memory, numaNode, nic: nic?.name ?? null})),
    nics: nics.map(({name, kind, up, speed, numaNode}) => ({name, kind, up, speed, numaNode})),
    links: links.map((row) => row.map((one) => one && linkText(one))),
    nicLinks: nicLinks.map((row) => row.map(linkText)),
    findings: findings.map(({text, why}) => ({text, why})),
  }
}
