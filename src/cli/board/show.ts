import {CliError, count, parseSize, randomId, sizeText, type Context} from '../../lib/base/index.ts'
import type {BoardEvent, BoardLink, BoardWish, FoundEvents} from '../../lib/board/index.ts'
import type {Runs} from '../../lib/runs/index.ts'
import {durationOf} from '../base/seconds.ts'
import {forwardText} from '../workspace/text.ts'

export interface BoardFlags {
  rank: number | undefined
  idle: string
  limit: string
}

/** What is asked for, and the event files that there are of it. Errors: USAGE, those of Runs.find and findEvents. */
export async function boardWish(
  runs: Runs,
  names: readonly string[],
  {rank, idle, limit}: BoardFlags,
  context: Context,
): Promise<{wish: BoardWish; found: FoundEvents}> {
  const most = parseSize(limit)
  if (most === undefined) throw new CliError('USAGE', `"${limit}" is not a size such as 2GiB`, {hint: '--limit 4GiB'})
  const seconds = durationOf(idle, '--idle')
  const {findEvents} = await import('../../lib/board/index.ts')
  const found: Awaited<ReturnType<Runs['find']>>[] = []
  for (const name of names.length > 0 ? names : [undefined]) {
    const run = await runs.find(name)
    if (!found.some((one) => one.run === run.run)) found.push(run)
  }
  const events = await findEvents(runs.place, found, rank, context)
  for (const {node, message} of events.failed)
    context.reporter.warn(`${node} was not asked for event files: ${message}`)
  return {wish: {id: randomId(), runs: found, rank, idle: seconds, limit: most}, found: events}
}

export function boardText({url, node, runs}: BoardLink): string {
  return `${url}\nTensorBoard on ${node} shows ${runs.join(', ')}. Ctrl-C ends it.`
}

/** Tells what happens meanwhile: under --json as it is, else as notes and warnings. */
export function tellBoard(
  event: BoardEvent,
  json: boolean,
  follow: <T>(value: T, text: (value: T) => string) => void,
  {reporter}: Context,
): void {
  if (json) follow(event, () => '')
  else if (event.event === 'loaded')
    reporter.note(`TensorBoard has read ${count(event.files, 'event file')} (${sizeText(event.bytes)})`)
  else if (event.event === 'damaged') reporter.warn(`${event.file} is damaged (${event.why}): not all of it is shown`)
  else if (event.event === 'missing') reporter.warn(`${event.node}: ${event.reason}`)
  else if (event.event === 'ended')
    reporter.note('TensorBoard was ended: nobody looked at it for as long as --idle says')
  else if (event.event === 'back') reporter.note(forwardText(event))
  else reporter.warn(forwardText(event))
}
