/** Text that is HTML already: everything else is escaped where it is put in. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | null | undefined | false | readonly Content[]

/**
 * HTML with what it is filled with, which is escaped unless it is Html itself; lists are joined, and null, undefined
 * and false are nothing. Holes stand in elements' contents and in quoted attributes, never in tags or scripts.
 */
export function html(parts: TemplateStringsArray, ...holes: Content[]): Html {
  const written = inOneLine(parts)
  let text = written[0] ?? ''
  for (const [index, hole] of holes.entries()) text += textOf(hole) + (written[index + 1] ?? '')
  return new Html(text)
}

const lines = new WeakMap<TemplateStringsArray, string[]>()

/** As it is laid out in the source, lines and all, counts as one space: as in HTML, and in a `pre` too. */
function inOneLine(parts: TemplateStringsArray): string[] {
  const known = lines.get(parts)
  if (known) return known
  const written = parts.map((part) => part.replaceAll(/\s*\n\s*>/g, '>').replaceAll(/\s*\n\s*/g, ' '))
  lines.set(parts, written)
  return written
}

function textOf(content: Content): string {
  if (content === null || content === undefined || content === false) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'number') return String(content)
  if (typeof content === 'object') return content.map(textOf).join('')
  return escape(String(content))
}

const ENTITIES: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'}
/** Controls that are no white space, and those that turn the direction of text around (Unicode, UAX 9): they hide things. */
// oxlint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

/** Most texts have nothing of it: looking once costs a third of replacing twice. */
const REPLACED = new RegExp(`[&<>"']|${UNSEEN.source}`)

export function escape(text: string): string {
  if (!REPLACED.test(text)) return text
  return text.replaceAll(UNSEEN, '\uFFFD').replaceAll(/[&<>"']/g, (one) => ENTITIES[one] ?? one)
}

/** An address within the page: a path of parts, and a query without what is undefined or empty. */
export function address(path: readonly string[], query: Record<string, string | undefined> = {}): string {
  const words = new URLSearchParams(
    Object.entries(query).filter((one): one is [string, string] => one[1] !== undefined && one[1] !== ''),
  ).toString()
  return `/flexrack/ui/${path.map((one) => encodeURIComponent(one)).join('/')}${words === '' ? '' : `?${words}`}`
}

/** A name as an id of an element: what is no letter or digit is written as its number. */
export function slug(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9-]/g, (one) => `_${one.codePointAt(0)}_`)
}
