import {count, isCliError} from '../../lib/base/index.ts'
import {
  groupFindings,
  type PreflightFinding,
  type PreflightResult,
  type Rate,
  type Way,
} from '../../lib/preflight/index.ts'
import {paint, printError} from '../terminal/print.ts'
import {duration, table} from '../terminal/render.ts'

/** Up to so many nodes the whole matrix is shown; beyond, the rows with something bad, a character a node. */
const WHOLE = 12
const MOST_ROWS = 24
const MOST_FINDINGS = 24

/** What a preflight found: the matrix of the ways, the findings, and what was looked at. */
export function preflightText(result: PreflightResult): string {
  return [matrixText(result), ...findingTexts(result.findings), summaryText(result)]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** Before the error of a training that its preflight ended: what was found, for people. Throws the error on. */
export function throwWithPreflight(error: unknown, json: boolean): never {
  if (!json && isCliError(error, 'PREFLIGHT_FAILED'))
    printError(preflightText(error.details.preflight as PreflightResult))
  throw error
}

function summaryText({nodes, checks, skipped, findings, ways, rates, pairs, times, ok}: PreflightResult): string {
  const errors = findings.filter((one) => one.severity === 'error').length
  const open = ways.filter((one) => one.error === undefined && !one.rendezvous).length
  const all = ways.filter((one) => !one.rendezvous).length
  const known = rates.map((one) => one.rate ?? 0).toSorted((a, b) => a - b)
  const sampled =
    pairs.measured < pairs.possible
      ? `${pairs.measured} of ${count(pairs.possible, 'pair')} (what there was time for)`
      : count(pairs.measured, 'pair')
  const lines = [
    `Preflight of ${count(nodes.length, 'node')} in ${duration(times.total)}: ${ok ? 'nothing would stop a run' : count(errors, 'error')}${findings.length > errors ? `, ${count(findings.length - errors, 'warning')}` : ''}.`,
    ...(all > 0
      ? [
          `Ways: ${open} of ${all} open.${known.length > 0 ? ` Bandwidth of ${sampled}: ${shortRate(known[0] ?? 0)} to ${shortRate(known.at(-1) ?? 0)} bit/s, one TCP stream each.` : ''}`,
        ]
      : []),
    `Looked at: ${checks.join(', ') || 'nothing'}.${skipped.length > 0 ? ` Left out: ${skipped.join(', ')}.` : ''}`,
  ]
  return lines.map((line) => paint.dim(line)).join('\n')
}

/** The findings for people; the same thing on many nodes is said once. */
function findingTexts(findings: PreflightFinding[]): string[] {
  const groups = groupFindings(findings)
  const shown = groups.slice(0, MOST_FINDINGS).map(({severity, check, message, fix}) => {
    const word = severity === 'error' ? paint.red('error') : paint.yellow('warning')
    return `${word} ${check}: ${message}${fix === undefined ? '' : `\n  ${paint.cyan('fix:')} ${fix}`}`
  })
  const rest = groups.length - shown.length
  return rest > 0 ? [...shown, paint.dim(`... and ${rest} more; --json has all of them.`)] : shown
}

/** From the nodes on the left to those above. The empty string where no ways were tried. */
export function matrixText(result: PreflightResult): string {
  if (result.ways.length === 0) return ''
  const cells = new Cells(result)
  return result.nodes.length <= WHOLE ? wholeMatrix(result.nodes, cells) : badRows(result.nodes, cells)
}

function wholeMatrix(nodes: string[], cells: Cells): string {
  const rows = nodes.map((from) => ({
    from,
    ...Object.fromEntries(nodes.map((to) => [`to ${to}`, cells.long(from, to)])),
  }))
  return table(
    rows,
    [{key: 'from', title: 'FROM \\ TO'}, ...nodes.map((to) => ({key: `to ${to}`, title: to, align: 'right' as const}))],
    Infinity,
  )
}

function badRows(nodes: string[], cells: Cells): string {
  const bad = nodes.filter((from) => nodes.some((to) => cells.isBad(from, to)))
  if (bad.length === 0) return ''
  const width = Math.max(...bad.map((name) => name.length))
  const tens = (texts: string[]): string =>
    Array.from({length: Math.ceil(texts.length / 10)}, (_, index) =>
      texts.slice(index * 10, index * 10 + 10).join(''),
    ).join(' ')
  const ruler = Array.from({length: Math.ceil(nodes.length / 10)}, (_, index) =>
    nodes[index * 10]?.slice(-10).padEnd(10),
  )
    .join(' ')
    .trimEnd()
  const rows = bad
    .slice(0, MOST_ROWS)
    .map((from) => `${from.padEnd(width)}  ${tens(nodes.map((to) => cells.short(from, to)))}`)
  const rest = bad.length - rows.length
  return [
    `${paint.dim('FROM'.padEnd(width))}  ${paint.dim(ruler)}`,
    ...rows,
    paint.dim(
      `${rest > 0 ? `and ${rest} more rows like these; ` : ''}x does not get there, ! slow, . fine, - itself. From the other ${nodes.length - bad.length} nodes every way is fine.`,
    ),
  ].join('\n')
}

/** What stands where a row and a column meet. */
class Cells {
  readonly #ways = new Map<string, Way>()
  readonly #rates = new Map<string, Rate>()
  readonly #slow = new Set<string>()

  constructor({ways, rates, findings}: PreflightResult) {
    for (const way of ways) if (!way.rendezvous || way.error !== undefined) this.#ways.set(`${way.from} ${way.to}`, way)
    for (const rate of rates) this.#rates.set(`${rate.from} ${rate.to}`, rate)
    const pairs = findings.filter((one) => one.check === 'bandwidth').flatMap((one) => (one.pair ? [one.pair] : []))
    for (const [from, to] of pairs) {
      this.#slow.add(`${from} ${to}`)
      // A finding of a pair is of both directions where the way back is as bad.
      if ((this.#rates.get(`${to} ${from}`)?.rate ?? Infinity) < 2 * (this.#rates.get(`${from} ${to}`)?.rate ?? 0))
        this.#slow.add(`${to} ${from}`)
    }
  }

  isBad(from: string, to: string): boolean {
    return this.#ways.get(`${from} ${to}`)?.error !== undefined || this.#slow.has(`${from} ${to}`)
  }

  long(from: string, to: string): string {
    if (from === to) return paint.dim('.')
    const key = `${from} ${to}`
    const way = this.#ways.get(key)
    if (way === undefined) return '?'
    if (way.error !== undefined) return paint.red(way.error === 'large' ? 'MTU' : way.error)
    const rate = this.#rates.get(key)
    if (rate === undefined) return paint.green('ok')
    return this.#slow.has(key) ? paint.yellow(`${shortRate(rate.rate ?? 0)} !`) : shortRate(rate.rate ?? 0)
  }

  short(from: string, to: string): string {
    if (from === to) return paint.dim('-')
    if (this.#slow.has(`${from} ${to}`)) return paint.yellow('!')
    const way = this.#ways.get(`${from} ${to}`)
    return way === undefined ? '?' : way.error === undefined ? paint.dim('.') : paint.red('x')
  }
}

/** `9.4G`, `120M`, in bit/s. */
function shortRate(rate: number): string {
  return rate >= 1e9
    ? `${(rate / 1e9).toFixed(1)}G`
    : rate >= 1e6
      ? `${(rate / 1e6).toFixed(rate >= 1e7 ? 0 : 1)}M`
      : `${(rate / 1e3).toFixed(0)}k`
}
