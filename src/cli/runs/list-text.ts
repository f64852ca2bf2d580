import type {RunEntry} from '../../lib/runs/index.ts'
import {silentRackText, type OfRack} from '../base/racks.ts'
import {paint} from '../terminal/print.ts'
import {ago, duration, table} from '../terminal/render.ts'
import {shortNumber} from './metric-text.ts'
import {isOpen, statusText} from './text.ts'

/** What `runs list` answers. `away`: why the tracking server was not asked. `unasked`: nodes that did not answer. */
export interface RunListing {
  runs: RunEntry[]
  away: string | null
  unasked: string[]
}

/** `runs list` of several racks: the newest `limit` of all, and what is said of each rack. */
export function runsOfRacksText(answers: OfRack<RunListing>[], limit: number): string {
  const runs = answers
    .flatMap((one) => (one.ok ? one.answer.runs.map((run) => ({...run, rack: one.rack})) : []))
    .sort((a, b) => (b.started ?? Infinity) - (a.started ?? Infinity))
    .slice(0, limit)
  const notes = answers.flatMap((one) => {
    if (!one.ok) return [`rack ${one.rack}: ${silentRackText(one)}`]
    const {away, unasked} = one.answer
    return [
      ...(away ? [paint.dim(`rack ${one.rack}: the tracking server was not asked (${away})`)] : []),
      ...(unasked.length > 0 ? [paint.dim(`rack ${one.rack}: not asked: ${unasked.join(', ')}`)] : []),
    ]
  })
  return [runListText({runs, away: null, unasked: []}), ...notes].join('\n')
}

/** `runs list`. */
export function runListText({
  runs,
  away,
  unasked,
}: Omit<RunListing, 'runs'> & {runs: (RunEntry & {rack?: string})[]}): string {
  const metrics = commonMetrics(runs)
  const isOfSeveral = new Set(runs.flatMap((one) => one.user ?? [])).size > 1
  const rows = runs.map((one) => ({
    run: one.run,
    ...(one.rack !== undefined && {rack: one.rack}),
    ...(isOfSeveral && {user: one.user ?? '-'}),
    status:
      statusText(one.status) +
      (one.status === 'waiting' && one.slurm?.reason ? paint.dim(` (${one.slurm.reason})`) : '') +
      (one.recorded === false ? paint.yellow(' *') : ''),
    started: one.started === null ? '-' : ago(one.started),
    duration:
      one.started === null
        ? '-'
        : one.ended === null
          ? isOpen(one)
            ? duration(Date.now() - one.started)
            : '-'
          : duration(one.ended - one.started),
    ranks: one.worldSize === null ? '-' : String(one.worldSize),
    nodes: one.nodes.join(','),
    ...(one.sweep && {sweep: one.sweep}),
    ...Object.fromEntries(
      metrics.map((name) => [`metric:${name}`, one.metrics[name] === undefined ? '-' : shortNumber(one.metrics[name])]),
    ),
  }))
  const sweep = runs.some((one) => one.sweep !== null) ? [{key: 'sweep', spare: true}] : []
  const columns = [
    'run',
    ...(runs.some((one) => one.rack !== undefined) ? ['rack'] : []),
    ...(isOfSeveral ? [{key: 'user', spare: true}] : []),
    ...sweep,
    'status',
    'started',
    {key: 'duration', align: 'right' as const},
    {key: 'ranks', align: 'right' as const},
    {key: 'nodes', spare: true},
    ...metrics.map((name) => ({key: `metric:${name}`, title: name, align: 'right' as const})),
  ]
  const notes = [
    ...(runs.length === 0
      ? [unasked.length > 0 ? 'No runs are known.' : 'No runs yet. Start one with: flexrack train']
      : []),
    ...runs
      .filter((one) => one.doubt)
      .map(
        (one) =>
          `How ${one.run} ended is known to ${one.doubt?.nodes.join(', ')} alone, which did not answer: flexrack runs show ${one.run}`,
      ),
    ...(runs.some((one) => one.recorded === false) ? ['* the tracking server does not have everything yet'] : []),
    ...(away ? [`The tracking server was not asked (${away}); this is what the nodes know.`] : []),
    ...(unasked.length > 0 ? [`Not asked: ${unasked.join(', ')}.`] : []),
  ]
  return [table(rows, columns), notes.map((note) => paint.dim(note)).join('\n')]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** At most three metrics that most runs have, shortest names first. */
function commonMetrics(runs: RunEntry[]): string[] {
  const counts = new Map<string, number>()
  for (const run of runs) for (const name of Object.keys(run.metrics)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
    .filter(([name]) => !name.startsWith('system/'))
    .sort((a, b) => b[1] - a[1] || a[0].length - b[0].length)
    .slice(0, 3)
    .map(([name]) => name)
}
