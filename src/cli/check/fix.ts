import {sizeText} from '../../lib/base/index.ts'
import type {Context} from '../../lib/base/index.ts'
import type {NodeReport} from '../../lib/nodes/index.ts'
import {findMendable, mendNodes} from '../../lib/preflight/index.ts'
import type {Mendable, Mended} from '../../lib/protocol/index.ts'
import {selectNodes} from '../../lib/rack/index.ts'
import {printError} from '../terminal/print.ts'
import {confirm} from '../base/prompt.ts'
import {table} from '../terminal/render.ts'
import type {Session} from '../base/session.ts'

/**
 * `check --fix`: shows what can be mended on the nodes without root, asks, and does it. Undefined where there is
 * nothing, or the answer is no.
 */
export async function fixNodes(
  {rack, fleet, manifest}: Session,
  flags: {on?: string | undefined; yes: boolean; json: boolean},
  context: Context,
): Promise<NodeReport<Mended[]>[] | undefined> {
  const nodes = selectNodes(rack, flags.on, rack.nodes)
  const found = await findMendable(nodes, manifest?.name, fleet, context)
  const items = found.flatMap(({value}) => value ?? [])
  if (items.length === 0) {
    context.reporter.note('There is nothing that could be mended without root.')
    return undefined
  }
  if (!flags.json) printError(mendableText(found))
  const question = {message: `End and remove ${items.length === 1 ? 'this' : `these ${items.length}`}?`, flag: '--yes'}
  if (!flags.yes && !(await confirm(question, context))) return undefined
  return mendNodes(nodes, found, fleet, context)
}

function mendableText(found: NodeReport<Mendable[]>[]): string {
  const rows = found.flatMap(({node, value}) =>
    (value ?? []).map((item) => ({
      node,
      kind: item.kind,
      name: item.name,
      bytes: item.bytes > 0 ? sizeText(item.bytes) : ' ',
      detail: item.detail,
    })),
  )
  return table(rows, ['node', 'kind', 'name', {key: 'bytes', title: 'SIZE', align: 'right'}, 'detail'])
}
