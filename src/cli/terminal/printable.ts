import {stripVTControlCharacters} from 'node:util'

/** What may go to the screen besides text: colours (SGR, ECMA-48 8.3.117). */
const SGR = /\u001B\[[0-9;:]*m/g
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g
/**
 * What JSON leaves as it is and a terminal does not: its 8-bit controls, and what turns the direction of the text
 * around it.
 */
const LEFT_BY_JSON = /[\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g
/** What chalk ends a colour with: after these nothing is left switched on. */
const CLOSED = /^\u001B\[(?:0|22|23|24|27|28|29|39|49|55)?m$/

/**
 * Text without anything that moves the cursor, rings, writes the clipboard, renames the window or changes the terminal
 * otherwise; colours only if wanted, and ended. Lines and tabs stay. Everything that came from elsewhere (logs,
 * messages, names) goes through it on its way to a terminal.
 */
export function printable(text: string, color: boolean): string {
  if (text.search(CONTROL) === -1) return text
  if (!color) return plain(text)
  const codes = text.match(SGR) ?? []
  const joined = text
    .split(SGR)
    .map((part, index) => `${codes[index - 1] ?? ''}${plain(part)}`)
    .join('')
  return CLOSED.test(codes.at(-1) ?? '\u001B[m') ? joined : `${joined}\u001B[0m`
}

/** Names are what any program calls its things: no line break of theirs makes a line of ours. Other controls go in printable(). */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\t\v\f\u2028\u2029]+/g, ' ')
}

/** A value as JSON that changes no terminal either, whatever names and messages are in it. */
export function jsonText(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replaceAll(
    LEFT_BY_JSON,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(CONTROL, '')
}
