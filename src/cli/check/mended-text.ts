import {count, sizeText} from '../../lib/base/index.ts'
import type {NodeReport} from '../../lib/nodes/index.ts'
import type {Mended} from '../../lib/protocol/index.ts'
import {paint} from '../terminal/print.ts'

/** What was mended, and what was not. */
export function mendedText(reports: NodeReport<Mended[]>[]): string {
  const all = reports.flatMap(({node, value}) => (value ?? []).map((item) => ({node, ...item})))
  const done = all.filter((item) => item.why === undefined)
  const freed = done.reduce((sum, item) => sum + item.bytes, 0)
  const left = all
    .filter((item) => item.why !== undefined)
    .map((item) => `${paint.yellow('left')} ${item.node}: ${item.kind} ${item.name}: ${item.why}`)
  const failed = reports
    .filter((report) => !report.ok)
    .map((report) => `${paint.red('error')} ${report.node}: ${report.message}`)
  return [
    `Mended ${count(done.length, 'thing')} on ${count(reports.length, 'node')}${freed > 0 ? `, ${sizeText(freed)} are free again` : ''}.`,
    ...left,
    ...failed,
  ].join('\n')
}
