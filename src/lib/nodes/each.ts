import type {Context} from '../base/index.ts'
import type {RackNode} from '../rack/index.ts'
import {forEachNode, type Fleet, type NodeShell} from '../ssh/index.ts'
import {makeReports, type NodeReport} from './report.ts'

/**
 * Does something on every node at once, tells how far it is, and reports on each; one node's failure never hides
 * another's.
 */
export async function overNodes<T>(
  doing: string,
  nodes: RackNode[],
  fleet: Fleet,
  ctx: Context,
  action: (node: RackNode, shell: NodeShell) => Promise<T>,
): Promise<NodeReport<T>[]> {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const progress = ctx.reporter.begin(`${doing} ${nodes.length} node${nodes.length === 1 ? '' : 's'}`)
  let finished = 0
  const outcome = await forEachNode(fleet, [...byName.keys()], async (shell, name) => {
    try {
      return await action(byName.get(name) as RackNode, shell)
    } finally {
      progress.amount(++finished, nodes.length, 'nodes')
    }
  })
  if (outcome.failed.size > 0) progress.fail()
  else progress.done()
  return makeReports([...byName.keys()], outcome)
}
