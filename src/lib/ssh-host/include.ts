/**
 * One line of ~/.ssh/config, before everything else: below the first Host or Match it would only count for that one.
 * Pure functions of the file's text, as latin1, so that every byte stays what it is.
 */

/** The text with the line at its top; the same text where it is there already. A line further down is moved. */
export function withInclude(text: string, file: string): string {
  if (text.startsWith(lineOf(text, file))) return text
  const without = withoutInclude(text, file)
  return `${lineOf(without, file)}${without}`
}

/** The text without the line. */
export function withoutInclude(text: string, file: string): string {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).filter((line) => !isOurs(line, file)).join('')
}

/** As people would add it themselves. */
export function includeLine(file: string): string {
  return `Include "${file}"`
}

function lineOf(text: string, file: string): string {
  return `${Buffer.from(includeLine(file), 'utf8').toString('latin1')}${/\r\n/.test(text) ? '\r\n' : '\n'}`
}

function isOurs(line: string, file: string): boolean {
  const found = /^\s*include[\s=]+"?([^"]*?)"?\s*$/i.exec(line)
  return found?.[1] === Buffer.from(file, 'utf8').toString('latin1')
}
