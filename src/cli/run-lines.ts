import {stripVTControlCharacters} from 'node:util'
import type {RankLine} from '../lib/runs/index.ts'
import {paint} from './print.ts'

const COLORS = ['cyan', 'yellow', 'green', 'magenta', 'blue', 'red'] as const
/** What a rank may send to the screen besides text: colours (SGR, ECMA-48 8.3.117). */
const SGR = /\u001B\[[0-9;:]*m/g
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g

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

/** Without anything that moves the cursor, rings, renames the window or changes the terminal; colours only if wanted, and ended. */
export function printable(text: string, color: boolean): string {
  if (text.search(CONTROL) === -1) return text
  if (!color) return stripVTControlCharacters(text).replaceAll(CONTROL, '')
  let colored = false
  const parts = text.split(SGR).map((part) => stripVTControlCharacters(part).replaceAll(CONTROL, ''))
  const codes = [...text.matchAll(SGR)].map((match) => match[0])
  const joined = parts.reduce((all, part, index) => {
    const code = codes[index - 1]
    if (code !== undefined) colored = true
    return `${all}${code ?? ''}${part}`
  })
  return colored ? `${joined}\u001B[0m` : joined
}
