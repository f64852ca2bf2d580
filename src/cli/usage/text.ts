import {count, QUOTA_WORDS, quotaAmount} from '../../lib/base/index.ts'
import type {UsageReport, UsageRow} from '../../lib/usage/index.ts'
import type {OfRack} from '../base/racks.ts'
import {hours} from '../runs/figures-text.ts'
import {paint} from '../terminal/print.ts'
import {minute, table} from '../terminal/render.ts'

/** `usage`. */
export function usageText(report: UsageReport): string {
  const {by, rows, total, since, until, accounts, fromRecords, away, unasked} = report
  const when = since === 0 ? `until ${minute(until * 1000)}` : `${minute(since * 1000)} to ${minute(until * 1000)}`
  if (rows.length === 0)
    return [`No runs, ${when}.`, ...quotaLines(report), ...usageNotes({accounts, fromRecords, away, unasked})].join(
      '\n',
    )
  const shown = [...rows, ...(rows.length > 1 ? [{name: 'all', ...total}] : [])].map((one) => ({
    name: one.name,
    runs: `${one.runs}${one.running > 0 ? ` (${one.running} running)` : ''}`,
    gpu: hours(one.gpuHours),
    busy: busyText(one),
    core: one.coreHours === null ? '-' : hours(one.coreHours),
    node: hours(one.nodeHours),
  }))
  const right = (key: string, title: string) => ({key, title, align: 'right' as const})
  return [
    paint.dim(when),
    table(shown, [
      {key: 'name', title: by.toUpperCase()},
      right('runs', 'RUNS'),
      right('gpu', 'GPU HOURS'),
      ...(total.gpuSeenHours === null ? [] : [right('busy', 'BUSY')]),
      right('core', 'CORE HOURS'),
      right('node', 'NODE HOURS'),
    ]),
    '',
    ...quotaLines(report),
    ...usageNotes({accounts, fromRecords, away, unasked}),
  ].join('\n')
}

/** `GPUs of team:vision: 6 of 8 (alice 4, bob 2)`, whatever the time that was asked for. */
function quotaLines({quotas = []}: Pick<UsageReport, 'quotas'>): string[] {
  const lines = quotas.flatMap(({rack, quotas: own}) =>
    own.flatMap(({of, limits}) =>
      limits.flatMap(({what, have, most, soft, by}) => {
        if (have === null) return []
        const amount = (number: number): number => quotaAmount(what, number)
        const people = Object.entries(by).map(([user, number]) => `${user} ${amount(number)}`)
        const whose = of.startsWith('user:') || people.length === 0 ? '' : ` (${people.join(', ')})`
        const where = quotas.length > 1 ? `rack ${rack}, ` : ''
        return [
          `  ${where}${QUOTA_WORDS[what]} of ${of}: ${amount(have)} of ${amount(most)}${whose}${soft ? ' (soft)' : ''}`,
        ]
      }),
    ),
  )
  return lines.length === 0 ? [] : [paint.dim('quotas, now:'), ...lines, '']
}

/** Share of the time in which its GPUs computed, of those that were measured. */
export function busyText({gpuSeenHours, gpuBusyHours}: Pick<UsageRow, 'gpuSeenHours' | 'gpuBusyHours'>): string {
  return gpuSeenHours === null || gpuSeenHours === 0
    ? '-'
    : `${Math.round(((gpuBusyHours ?? 0) / gpuSeenHours) * 100)} %`
}

/** The racks that did not answer, with the reason. */
export function silentRacks(answers: OfRack<unknown>[]): Record<string, string> {
  return Object.fromEntries(answers.flatMap((one) => (one.ok ? [] : [[`rack ${one.rack}`, one.message]])))
}

/** The rows alone, for a spreadsheet (RFC 4180). A name that it would take for a formula gets an apostrophe before it. */
export function usageCsv({by, rows}: UsageReport): string {
  const cell = (value: string | number | null): string => {
    if (typeof value !== 'string') return value === null ? '' : String(value)
    const text = /^\s*[=+\-@\t\r]/.test(value) ? `'${value}` : value
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const lines = rows.map((one) =>
    [one.name, one.runs, one.running, one.gpuHours, one.coreHours, one.nodeHours, one.gpuSeenHours, one.gpuBusyHours]
      .map(cell)
      .join(','),
  )
  return [`${by},runs,running,gpu_hours,core_hours,node_hours,gpu_seen_hours,gpu_busy_hours`, ...lines].join('\n')
}

/** Where the figures come from, and what is not in them. */
export function usageNotes({
  accounts,
  fromRecords,
  away,
  unasked,
}: Pick<UsageReport, 'accounts' | 'fromRecords' | 'away' | 'unasked'>): string[] {
  return [
    `From the files of ${accounts.join(' and ')} on the nodes${fromRecords > 0 ? `, and ${count(fromRecords, 'run')} that only the tracking server knows (core hours are not known of those)` : ''}.`,
    ...(away ? [`Runs of other accounts are not in it: the tracking server was not asked (${away}).`] : []),
    ...Object.entries(unasked).map(([node, why]) => `${node} was not asked: ${why}`),
  ].map((line) => paint.dim(line))
}
