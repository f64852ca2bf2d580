import {momentToCome} from '../../lib/base/index.ts'
import type {RackNode} from '../../lib/rack/index.ts'

/** When nodes go away, as it is written to the rack file: `8h`, `2d`, a date or a time of ISO 8601. Errors: USAGE. */
export function nodeEnd(text: string, now = Date.now()): string {
  const end = momentToCome(text, '--until 12h, or --until 2030-01-31T18:00Z', now)
  return new Date(end).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** What is said before a run goes to nodes that will not be there for ever; empty where all will. Pure. */
export function leavingText(nodes: RackNode[]): string {
  return nodes.flatMap(({name, until}) => (until === undefined ? [] : [`${name} is there until ${until}`])).join(', ')
}
