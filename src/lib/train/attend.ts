/** Following a run that this command has started, and Ctrl-C meanwhile; following alone is src/lib/runs/follow.ts. */
import {CliError, isCliError, isRequested, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {NodeRunDetail} from '../protocol/index.ts'
import {
  followRun,
  stopRun,
  type Followed,
  type FoundRun,
  type RankLine,
  type RunNews,
  type Stopped,
} from '../runs/index.ts'
import type {TrainPlace} from './types.ts'

/** Milliseconds that nodes may take, after a stop was proven, to close their files. */
const CLOSING_MS = 60_000

/** What of a run is told while it goes on. */
export interface AttendWatch {
  onLines(lines: RankLine[]): void
  onNews?(news: RunNews): void
}

/**
 * Follows until the end; passes Ctrl-C on. Undefined where the run is to go on without us. Errors: INTERRUPTED, from
 * here or `end`, where it was stopped on all nodes that can be reached and these do not know how it ended; those of
 * stopRun.
 */
export async function attend(
  run: FoundRun,
  place: TrainPlace,
  watch: AttendWatch,
  context: Context,
): Promise<Followed | undefined> {
  const runs = {rack: place.rack, fleet: place.fleet, hosts: new Map<string, Host>()}
  const leave = new AbortController()
  const lost = new Map(run.nodes.map(({node}) => [node, new AbortController()]))
  const stops: Promise<unknown>[] = []
  let stopped: Stopped | undefined
  const stop = (kill: boolean): void => {
    const progress = context.reporter.begin(kill ? `Kill run ${run.run}` : `Stop run ${run.run}`)
    const end = stopRun(runs, run, {kill}, context).then(
      (done) => {
        stopped = done
        progress.done(`Stopped: no process of the run is left on ${Object.keys(done.left).join(', ')}`)
        for (const node of done.unreached) lost.get(node)?.abort()
        setTimeout(() => leave.abort(), CLOSING_MS).unref()
      },
      (error: Error) => {
        progress.fail(error.message)
        leave.abort(error)
      },
    )
    stops.push(end)
  }
  const onSignal = (): void => {
    if (isRequested(context.signal)) stop(false)
    else leave.abort()
  }
  const onKill = (): void => stop(true)
  context.signal.addEventListener('abort', onSignal, {once: true})
  context.kill.addEventListener('abort', onKill, {once: true})
  if (context.signal.aborted) onSignal()
  try {
    const given = new Map([...lost].map(([node, {signal}]) => [node, signal]))
    const followed = await followRun(
      runs,
      run,
      {
        follow: true,
        signal: leave.signal,
        given,
        onLines: (lines) => watch.onLines(lines),
        onNews: (news) => watch.onNews?.(news),
      },
      context,
    )
    await Promise.all(stops)
    return {...followed, end: () => endOrStopped(followed, stopped)}
  } catch (error) {
    if (!leave.signal.aborted || !isCliError(error, 'INTERRUPTED')) throw error
    await Promise.all(stops)
    if (isCliError(leave.signal.reason)) throw leave.signal.reason
    if (stopped) throw interruption(stopped, error)
    return undefined
  } finally {
    context.signal.removeEventListener('abort', onSignal)
    context.kill.removeEventListener('abort', onKill)
    await Promise.all(stops)
  }
}

function endOrStopped(followed: Followed, stopped: Stopped | undefined): NodeRunDetail {
  try {
    return followed.end()
  } catch (error) {
    throw stopped && isCliError(error, 'NODE_UNREACHABLE') ? interruption(stopped, error) : error
  }
}

/** To the user who has asked for the end, what matters is that it came; where not, stopRun has told by now. */
function interruption({run, left, unreached}: Stopped, cause: unknown): CliError {
  const why = unreached.length > 0 ? `${unreached.join(', ')} could not be reached` : 'its files are not closed yet'
  return new CliError(
    'INTERRUPTED',
    `run ${run} was stopped on ${Object.keys(left).join(', ')}; how it ended is not known, because ${why}`,
    {details: {run, left, unreached}, hint: `flexrack runs stop ${run}`, cause},
  )
}
