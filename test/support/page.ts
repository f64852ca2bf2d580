/** One command of a page's ```console blocks, and what the page shows below it. */
export interface Shown {
  command: string
  output: string[]
}

/** The commands of a page, in order. */
export function shownIn(page: string): Shown[] {
  return [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => {
    const shown: Shown[] = []
    for (const line of block.trimEnd().split('\n')) {
      if (line.startsWith('$ ')) shown.push({command: line.slice(2), output: []})
      else shown.at(-1)?.output.push(line)
    }
    return shown
  })
}

/** The page with other outputs, one for each of its commands. */
export function withOutputs(page: string, outputs: string[][]): string {
  const left = [...outputs]
  return page.replaceAll(/^```console\n[\s\S]*?^```$/gm, (block) => {
    const commands = shownIn(`${block}\n`)
    return `\`\`\`console\n${commands.map(({command}) => [`$ ${command}`, ...(left.shift() ?? [])].join('\n')).join('\n')}\n\`\`\``
  })
}

/** A line without what is another each time: numbers, ids, and how wide a table is. */
export function steady(line: string): string {
  return line
    .replaceAll(/\b[0-9a-f]{16,}\b/g, 'ID')
    .replaceAll(/digits-[a-z0-9]{5}\b/g, 'digits-RUN')
    .replaceAll(/\d+(?:[.,:]\d+)*/g, '0')
    .replaceAll(/(?:0 (?:h|min|ms|s) ?)+/g, 'TIME ')
    .replaceAll(/0 ([KMG]i)?B\b/g, 'SIZE')
    .replaceAll(/\s+|[─·█▉-▏]+/g, ' ')
    .trim()
}

/** The first line of the page that the output does not have, in its order. */
export function missing(shown: string[], output: string[]): string | undefined {
  const lines = output.map(steady)
  let at = 0
  return shown.find((line) => {
    if (line.trim() === '' || line.trim() === '...') return false
    const found = lines.indexOf(steady(line), at)
    if (found === -1) return true
    at = found + 1
    return false
  })
}
