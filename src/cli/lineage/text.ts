import type {SignedModel, Why, WhyNode} from '../../lib/lineage/index.ts'
import {oneLine} from '../terminal/printable.ts'
import {paint} from '../terminal/print.ts'

/** The tree, a line for each thing and one for each fact; what does not hold is said last as well. Pure. */
export function whyText({tree, broken, verified}: Why): string {
  const lines = linesOf(tree, '', '')
  if (broken) lines.push('', `${paint.red('does not hold')}: ${oneLine(broken.arrow)}: ${oneLine(broken.why)}`)
  else if (verified) lines.push('', 'Everything was hashed again, and holds.')
  return lines.join('\n')
}

function linesOf(node: WhyNode, first: string, rest: string): string[] {
  const hasMore = node.from.length > 0
  const lines = [`${first}${paint.bold(node.kind)} ${oneLine(node.name)}${checkText(node)}`]
  const bar = `${rest}${hasMore ? '│ ' : '  '}`
  for (const [name, value] of node.facts) lines.push(`${bar}  ${paint.dim(`${name}:`)} ${oneLine(value)}`)
  for (const [index, one] of node.from.entries()) {
    const isLast = index === node.from.length - 1
    lines.push(...linesOf(one, `${rest}${isLast ? '└─ ' : '├─ '}`, `${rest}${isLast ? '   ' : '│  '}`))
  }
  return lines
}

function checkText({check}: WhyNode): string {
  if (!check) return ''
  return check.holds
    ? `  ${paint.green('✓')} ${paint.dim(oneLine(check.why))}`
    : `  ${paint.red('✗')} ${oneLine(check.why)}`
}

/** Pure. */
export function signedText({model, run, record, keys}: SignedModel): string {
  return `${oneLine(model)} is signed by ${keys.join(', ')}: run ${oneLine(run)}, record ${record.slice(0, 12)}.`
}
