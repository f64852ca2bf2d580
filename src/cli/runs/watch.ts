import type {Context} from '../../lib/base/index.ts'
import type {FoundRun, RunRecords, Runs, RunView} from '../../lib/runs/index.ts'
import {LivePanel} from './live-panel.ts'
import {jsonText, printable} from '../terminal/printable.ts'
import {hasScreen} from '../terminal/screen.ts'
import {paint} from '../terminal/print.ts'

export interface WatchedRun {
  runs: Runs
  run: FoundRun
  /** Seconds between two looks. */
  every: number
  /** Show the ranks' lines, too. */
  logs: boolean
  json: boolean
}

/**
 * Watches until the run is over or Ctrl-C: a panel on a terminal, else a line now and then; with `json` an object a
 * line.
 */
export async function showRun(watched: WatchedRun, context: Context): Promise<void> {
  const {watchText, watchLine} = await import('./watch-text.ts')
  if (watched.json)
    return void (await follow(watched, (view) => process.stdout.write(`${jsonText(view)}\n`), undefined, context))
  if (!hasScreen())
    return void (await follow(
      watched,
      (view) => process.stdout.write(`${printable(watchLine(view), false)}\n`),
      undefined,
      context,
    ))
  const panel = new LivePanel(process.stdout)
  let latest: RunView | undefined
  const draw = (): void => latest && panel.draw(printable(watchText(latest, panel.size), paint.level > 0))
  const close = (): void => panel.close()
  const above = (line: string): void => panel.print(printable(line, paint.level > 0))
  const reporter = {
    ...context.reporter,
    note: above,
    warn: (message: string) => above(`${paint.yellow('warning:')} ${message}`),
  }
  process.stdout.on('resize', draw)
  process.on('exit', close)
  context.signal.addEventListener('abort', close) // before anything about the Ctrl-C is written
  try {
    await follow(
      watched,
      (view) => {
        latest = view
        draw()
      },
      above,
      {...context, reporter},
    )
  } finally {
    process.stdout.off('resize', draw)
    process.off('exit', close)
    context.signal.removeEventListener('abort', close)
    close()
  }
}

/**
 * The line under the output of a run that is followed: on a terminal drawn in place, with `every` also a line now and
 * then. Returns what ends it.
 */
export async function openStatusLine(
  watched: Pick<WatchedRun, 'runs' | 'run' | 'json'> & {every: number | undefined; records?: RunRecords},
  context: Context,
): Promise<() => Promise<void>> {
  const isDrawn = process.stderr.isTTY && process.env.TERM !== 'dumb' && watched.every === undefined
  if (watched.json || (!isDrawn && watched.every === undefined)) return async () => {}
  const {watchLine} = await import('./watch-text.ts')
  const leave = new AbortController()
  const progress = isDrawn ? context.reporter.begin(watched.run.run) : undefined
  let isFirst = true
  const onView = (view: RunView): void => {
    if (progress) progress.detail(watchLine(view))
    else if (!isFirst) context.reporter.note(`${watched.run.run}: ${watchLine(view)}`)
    isFirst = false
  }
  const watching = watched.runs
    .watch(
      watched.run,
      {every: watched.every ?? 2, onView, signal: leave.signal, ...(watched.records && {records: watched.records})},
      context,
    )
    .catch((error: Error) => {
      if (!leave.signal.aborted) context.reporter.warn(`the run is not watched any more: ${error.message}`)
    })
  return async () => {
    leave.abort()
    await watching
    progress?.done(`Watched ${watched.run.run}`)
  }
}

async function follow(
  {runs, run, every, logs}: WatchedRun,
  onView: (view: RunView) => void,
  onText: ((text: string) => void) | undefined,
  context: Context,
): Promise<void> {
  const [{followRun}, {rankLineText}] = await Promise.all([import('../../lib/runs/index.ts'), import('./lines.ts')])
  const leave = new AbortController()
  const signal = AbortSignal.any([context.signal, leave.signal])
  const following =
    onText && logs
      ? followRun(
          runs.place,
          run,
          {
            follow: true,
            newest: true,
            signal,
            onLines: (lines) => onText(lines.map((line) => rankLineText(line)).join('\n')),
          },
          context,
        ).catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
      : undefined
  try {
    await runs.watch(run, {every, onView, signal: context.signal}, context)
    if (!context.signal.aborted) await following
  } finally {
    leave.abort()
    await following?.catch(() => {})
  }
}
