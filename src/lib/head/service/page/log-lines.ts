import {escape, html, Html} from './html.ts'

/** What begins the story of a failure, in the languages that trainings are written in. */
export const FAILURE = String.raw`Traceback \(most recent call last\)|\b[A-Za-z.]{0,80}(?:Error|Exception)\b:|\bCUDA error\b|\bFATAL\b|\bSegmentation fault\b`

const IS_FAILURE = new RegExp(FAILURE)
/** Select Graphic Rendition (ECMA-48, 8.3.117), and every other control sequence. */
// oxlint-disable-next-line no-control-regex
const SEQUENCE =
  /\u001B\[([\d;]*)m|\u001B\[[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B[@-Z\\-_]/g

/** Lines of a log as elements: colours of the terminal become classes, lines that tell of a failure are marked. */
export function logLines(text: string, marked = ''): Html {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const wanted = marked.toLowerCase()
  return new Html(lines.map((line) => lineOf(line.slice(line.lastIndexOf('\r', line.length - 2) + 1), wanted)).join(''))
}

/** As text: a log may have a hundred thousand lines that are empty, and the head does nothing else meanwhile. */
function lineOf(line: string, marked: string): string {
  // The line's end counts here: all of it stands in a `pre`.
  if (line === '') return '<span class="l">\n</span>'
  const content = line.includes('\u001B') ? coloured(line).text : escape(line)
  const shown = marked !== '' && line.toLowerCase().includes(marked) ? `<mark>${content}</mark>` : content
  return `<span class="${IS_FAILURE.test(line) ? 'l err' : 'l'}">${shown}\n</span>`
}

function coloured(line: string): Html {
  const parts: Html[] = []
  let classes = new Set<number>()
  let at = 0
  for (const found of line.matchAll(SEQUENCE)) {
    parts.push(part(line.slice(at, found.index), classes))
    at = found.index + found[0].length
    if (found[1] !== undefined) classes = next(classes, found[1])
  }
  parts.push(part(line.slice(at), classes))
  return html`${parts}`
}

function next(classes: Set<number>, codes: string): Set<number> {
  const result = new Set(classes)
  for (const code of codes === '' ? [0] : codes.split(';').map(Number)) {
    if (code === 0) result.clear()
    else if (code === 1 || code === 2 || (code >= 31 && code <= 36) || (code >= 90 && code <= 96)) result.add(code)
  }
  return result
}

function part(text: string, classes: Set<number>): Html {
  if (classes.size === 0 || text === '') return html`${text}`
  return html`<span class="${[...classes].map((one) => `a${one}`).join(' ')}">${text}</span>`
}
