import {CliError, momentOf} from '../../lib/base/index.ts'
import type {RackNode} from '../../lib/rack/index.ts'

/** When nodes go away, as it is written to the rack file: `8h`, `2d`, a date or a time of ISO 8601. Errors: USAGE. */
export function nodeEnd(text: string, now = Date.now()): string {
  const end = momentOf(text, now)
  if (end > now) return new Date(end).toISOString().replace(/\.\d+Z$/, 'Z')
  throw new CliError('USAGE', `"${text}" is no time in the future: minutes, hours or days from now, or a date`, {
    hint: '--until 12h, or --until 2030-01-31T18:00Z',
  })
}

/** What is said before a run goes to nodes that will not be there for ever; empty where all will. Pure. */
export function leavingText(nodes: RackNode[]): string {
  return nodes.flatMap(({name, until}) => (until === undefined ? [] : [`${name} is there until ${until}`])).join(', ')
}
