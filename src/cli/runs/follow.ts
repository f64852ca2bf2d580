import type {Context} from '../../lib/base/index.ts'
import type {RankLine, RunNews} from '../../lib/runs/index.ts'
import {jsonText} from '../terminal/printable.ts'
import {rankLineText} from './lines.ts'
import {newsText} from './news-text.ts'

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
    const told = newsText(news)
    if (told) context.reporter[told[0]](told[1])
  }
}
