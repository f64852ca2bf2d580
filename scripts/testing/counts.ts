import type {Outcome} from './outcomes.ts'
import type {Part} from './suites.ts'

/** What a suite counted. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
  /** What failed or was skipped, a line each: said again at the end, where people look. */
  trouble: string[]
  /** What passed at the second try only. */
  flaky: string[]
  slow: Slow[]
  /** Files with a failure that may have a second try; not in the numbers above. */
  unsettled: Unsettled[]
}

export interface Unsettled {
  part: Part
  place: string
  outcomes: Outcome[]
}

/** A test, or a program of tests, and how long it took. */
export type Slow = [what: string, seconds: number]

const SLOWEST = 10
const SLOW_SECONDS = 5
const LONGEST_LINE = 300

export function noCounts(): Counts {
  return {passed: 0, failed: 0, skipped: 0, trouble: [], flaky: [], slow: [], unsettled: []}
}

export function addCounts(total: Counts, more: Counts): void {
  for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += more[key]
  total.trouble.push(...more.trouble)
  total.flaky.push(...more.flaky)
  total.slow.push(...more.slow)
  total.unsettled.push(...more.unsettled)
}

/** What is said after all suites; its last line is `N passed, N failed`. */
export function closingText(total: Counts): string {
  const slowest = total.slow
    .filter(([, seconds]) => seconds >= SLOW_SECONDS)
    .sort((a, b) => b[1] - a[1])
    .slice(0, SLOWEST)
  return [
    ...section(
      'the slowest',
      slowest.map(([what, seconds]) => `${seconds.toFixed(0).padStart(5)} s  ${what}`),
    ),
    ...section(`flaky: ${total.flaky.length} passed at the second try`, total.flaky),
    ...section('not passed', total.trouble),
    '',
    `${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`,
  ].join('\n')
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ['', `── ${title}`, ...lines.map((line) => `  ${line.slice(0, LONGEST_LINE)}`)]
}
