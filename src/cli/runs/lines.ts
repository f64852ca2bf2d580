import type {RankLine} from '../../lib/runs/index.ts'
import {paint} from '../terminal/print.ts'
import {printable} from '../terminal/printable.ts'

const COLORS = ['cyan', 'yellow', 'green', 'magenta', 'blue', 'red'] as const
export interface LineStyle {
  /** Name of the longest node and digits of the highest rank, so that the bars stand under each other. */
  width?: number
  /** Keep the rank's own colours. */
  color?: boolean
}

/** `node-1:0 | text`. A rank can colour its text on a terminal and do nothing else to it. */
export function rankLineText(line: RankLine, style: LineStyle = {}): string {
  const name = `${line.node}:${line.rank}`.padEnd(style.width ?? 0)
  const color = COLORS[line.rank % COLORS.length] as (typeof COLORS)[number]
  return `${paint[color](`${name} |`)} ${printable(line.text, style.color ?? paint.level > 0)}`
}
