import {count, type Context} from '../../lib/base/index.ts'
import type {StartedRun} from '../../lib/train/index.ts'
import {openStatusLine} from '../runs/watch.ts'
import {secondsOf} from '../base/seconds.ts'
import type {Session} from '../base/session.ts'
import {whereText} from '../runs/slurm-text.ts'

/**
 * What is said of a training beside its output: that it started, and, unless it is left alone, the line of
 * openStatusLine. `close()` may be called without `onStart()`.
 */
export function trainStatus(
  session: Session,
  options: {watchEvery: string | undefined; json: boolean; detach: boolean},
  context: Context,
): {onStart(run: string, started: StartedRun): void; close(): Promise<void>} {
  const every = secondsOf(options.watchEvery, {least: 0.5, flag: '--watch-every'})
  let opening: Promise<() => Promise<void>> | undefined
  return {
    onStart: (run, started) => {
      context.reporter.note(`run ${run}: ${count(started.spec.worldSize, 'rank')} on ${whereText(started)}`)
      if (!options.detach) opening = open(session, started, {every, json: options.json}, context)
    },
    close: async () => (await opening)?.(),
  }
}

async function open(
  {rack, fleet}: Session,
  {found, tracking}: StartedRun,
  options: {every: number | undefined; json: boolean},
  context: Context,
): Promise<() => Promise<void>> {
  const {openRuns} = await import('../../lib/runs/index.ts')
  return openStatusLine(
    {runs: openRuns({rack, fleet}, context), run: found, records: {tracking, away: undefined}, ...options},
    context,
  )
}
