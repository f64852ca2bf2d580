const COLUMNS = 100
const ITEM = /^\s*(?:[-*]|\d+\.)\s+/
/** What would be a list, a heading or a table at the beginning of a line. */
const MEANS_MORE = /^\s*(?:[-*+]|\d+[.)]|#+|\|)(?:\s|$)/

/**
 * Markdown whose prose is within 100 columns: paragraphs and list items with a longer line are laid out anew. Tables
 * and code stay.
 */
export function wrapProse(text: string): string {
  const out: string[] = []
  let paragraph: string[] = []
  let isCode = false
  const flush = (): void => {
    out.push(...(paragraph.some((line) => line.length > COLUMNS) ? wrap(paragraph) : paragraph))
    paragraph = []
  }
  for (const line of text.split('\n')) {
    const isFence = line.trimStart().startsWith('```')
    if (isCode || isFence || isBlock(line)) {
      flush()
      out.push(line)
      if (isFence) isCode = !isCode
      continue
    }
    if (ITEM.test(line)) flush()
    paragraph.push(line)
  }
  flush()
  return out.join('\n')
}

function isBlock(line: string): boolean {
  return line.trim() === '' || /^(?: {4}|\||#|!\[)/.test(line)
}

function wrap(paragraph: readonly string[]): string[] {
  const [first = ''] = paragraph
  const begin = ITEM.exec(first)?.[0] ?? /^\s*/.exec(first)?.[0] ?? ''
  const words = [first.slice(begin.length), ...paragraph.slice(1)].join(' ').trim().split(/\s+/)
  const lines: string[] = []
  let line = begin
  let isEmpty = true
  for (const word of words) {
    if (!isEmpty && line.length + 1 + word.length > COLUMNS && !MEANS_MORE.test(word)) {
      lines.push(line)
      line = ' '.repeat(begin.length)
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}
