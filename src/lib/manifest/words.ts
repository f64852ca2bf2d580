/**
 * Splits a command line into words as a POSIX shell quotes them: '…' is literal, in "…" a backslash escapes " \ $ and
 * `, elsewhere it escapes any character. Nothing is expanded. Returns the words, or what is wrong as a text.
 */
export function splitWords(line: string): string[] | string {
  const words: string[] = []
  let word: string | undefined
  for (let index = 0; index < line.length; index++) {
    const char = line[index]!
    if (char === '\0') return 'must not contain NUL'
    if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === "'" || char === '"') {
      const quoted = readQuoted(line, index, char)
      if (!quoted) return `has a quote ${char} that is not closed`
      word = (word ?? '') + quoted.text
      index = quoted.end
    } else if (char === '\\') {
      const next = line[++index]
      if (next === undefined) return 'ends with a backslash'
      // A backslash before a line break joins the lines.
      if (next !== '\n') word = (word ?? '') + next
    } else if (/[|&;<>`]/.test(char) || (char === '$' && line[index + 1] === '(')) {
      return `has "${char}" outside quotes, but no shell reads it; put it in quotes if it is meant as it stands`
    } else word = (word ?? '') + char
  }
  if (word !== undefined) words.push(word)
  return words
}

function readQuoted(line: string, start: number, quote: string): {text: string; end: number} | undefined {
  let text = ''
  for (let index = start + 1; index < line.length; index++) {
    const char = line[index]!
    if (char === quote) return {text, end: index}
    const next = line[index + 1]
    if (quote === '"' && char === '\\' && next !== undefined && '"\\$`\n'.includes(next)) {
      if (next !== '\n') text += next
      index++
    } else text += char
  }
  return undefined
}
