import type {Context} from '../../lib/base/index.ts'
import type {Hang, SlurmState} from '../../lib/protocol/index.ts'
import type {RankLine, RunNews} from '../../lib/runs/index.ts'
import {jsonText} from '../terminal/printable.ts'
import {hangText} from './hang-text.ts'
import {rankLineText} from './lines.ts'
import {queueText} from './slurm-text.ts'

/** Prints ranks' lines in portions: text, or one JSON object a line. */
export function linePrinter(json: boolean): (lines: RankLine[]) => void {
  let width = 0
  return (lines) => {
    for (const line of lines) width = Math.max(width, `${line.node}:${line.rank}`.length)
    const text = lines.map((line) => (json ? jsonText(line) : rankLineText(line, {width}))).join('\n')
    process.stdout.write(`${text}\n`)
  }
}

/** Tells, beside the lines, what happens to the run as a whole. */
export function newsTeller(context: Context): (news: RunNews) => void {
  return (news) => {
    if (news.event === 'restarting')
      context.reporter.warn(
        `attempt ${String(news.attempt)} of the whole gang begins${news.why === undefined ? '' : `: ${String(news.why)}`}`,
      )
    else if (news.event === 'makes room')
      context.reporter.warn(
        `it makes room for ${String(news.why)}: its ranks end after their next checkpoint, ${String(news.seconds)} s from now at the latest`,
      )
    else if (news.event === 'made room')
      context.reporter.warn(`it has made room for ${String(news.why)}, and waits for its turn`)
    else if (news.event === 'put out' || news.event === 'stepped down') context.reporter.warn(String(news.why))
    else if (news.event === 'elected')
      context.reporter.warn(
        `${news.node} leads the run from now on, chosen by ${together(news.votes as string[])}, in the place of ${String(news.instead)}`,
      )
    else if (news.event === 'checkpoint lost')
      context.reporter.warn(
        `checkpoint ${String(news.checkpoint)} was on ${String(news.had)} alone and is lost; ${news.instead ? `it goes on from ${String(news.instead)}` : 'it begins anew'}`,
      )
    else if (news.event === 'hang') context.reporter.warn(hangText(news as unknown as Hang))
    else if (news.event === 'hang over') context.reporter.note('the ranks make progress again')
    else if (news.event === 'slurm')
      context.reporter[news.requeued && news.state === 'PENDING' ? 'warn' : 'note'](
        `Slurm: ${queueText(news as unknown as SlurmState)}`,
      )
    else if (news.event === 'tracking.back') context.reporter.note(`${news.node}: ${news.message}`)
    else if (news.event.startsWith('tracking.') && news.message) context.reporter.warn(`${news.node}: ${news.message}`)
    else if (news.event === 'link lost')
      context.reporter.warn(`the connection within the gang to ${String(news.to)} was lost`)
    else if (news.event === 'bug')
      context.reporter.warn(`the supervisor on ${news.node} failed: see events.jsonl in the run's folder there`)
  }
}

/** `a`, `a and b`, `a, b and c`. */
function together(names: string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
