/** A recorded terminal session as an SVG that is legible on light and dark pages. Pure. */

/** What was typed, and what the program wrote, with the escape sequences of its colours (ECMA-48, SGR). */
export interface Shown {
  typed: string
  wrote: string
}

export interface Recording {
  /** What it is, for those who do not see the picture. */
  title: string
  session: Shown[]
}

interface Piece {
  text: string
  /** Classes of the picture's style: bold, dim, and a colour. */
  classes: string[]
}

const COLUMNS = 100
const [CHARACTER, LINE] = [8.43, 20]
const EDGE = {side: 20, top: 46, bottom: 16}
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const STYLE = `
    .page { fill: #ffffff; stroke: #d0d7de }
    .knob { fill: #d0d7de }
    text { fill: #1f2328; font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace; white-space: pre }
    .bold { font-weight: 700 }
    .dim, .black, .white { fill: #59636e }
    .red { fill: #b3202c } .green { fill: #116329 } .yellow { fill: #7d4e00 }
    .blue { fill: #0550ae } .magenta { fill: #6639ba } .cyan { fill: #0b5a6b }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; stroke: #3d444d }
      .knob { fill: #3d444d }
      text { fill: #e6edf3 }
      .dim, .black, .white { fill: #9198a1 }
      .red { fill: #ff8a80 } .green { fill: #56d364 } .yellow { fill: #e3b341 }
      .blue { fill: #79c0ff } .magenta { fill: #d2a8ff } .cyan { fill: #76e3ea }
    }
  `

export function drawTerminal({title, session}: Recording): string {
  const lines = session.flatMap(({typed, wrote}, index) => [
    ...(index > 0 ? [[]] : []),
    [
      {text: '$ ', classes: ['green']},
      {text: typed, classes: ['bold']},
    ],
    ...wrote
      .replace(/\n$/, '')
      .split('\n')
      .flatMap((line) => wrap(readPieces(line))),
  ])
  const [width, height] = [Math.ceil(COLUMNS * CHARACTER) + 2 * EDGE.side, EDGE.top + lines.length * LINE + EDGE.bottom]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}">`,
    `  <style>${STYLE}</style>`,
    `  <rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...[0, 1, 2].map((knob) => `  <circle class="knob" cx="${EDGE.side + 4 + knob * 18}" cy="20" r="6"/>`),
    ...lines.flatMap((pieces, row) => drawLine(pieces, EDGE.top + row * LINE + 14)),
    '</svg>',
    '',
  ].join('\n')
}

/** A text for each piece, at its column: fonts differ in width. */
function drawLine(pieces: readonly Piece[], y: number): string[] {
  let column = 0
  return pieces.flatMap(({text, classes}) => {
    const at = column
    column += text.length
    const blanks = text.length - text.trimStart().length
    if (text.trim() === '') return []
    const shown = text.trim()
    const x = round(EDGE.side + (at + blanks) * CHARACTER)
    return [
      `  <text x="${x}" y="${y}" textLength="${round(shown.length * CHARACTER)}"${classes.length > 0 ? ` class="${classes.join(' ')}"` : ''}>${escape(shown)}</text>`,
    ]
  })
}

/** As a terminal of so many columns does: in the middle of a word. */
function wrap(pieces: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [[]]
  let free = COLUMNS
  for (const {text, classes} of pieces) {
    for (let rest = text; rest !== '';) {
      if (free === 0) {
        lines.push([])
        free = COLUMNS
      }
      const part = rest.slice(0, free)
      lines.at(-1)?.push({text: part, classes})
      free -= part.length
      rest = rest.slice(part.length)
    }
  }
  return lines
}

function readPieces(line: string): Piece[] {
  let [weight, colour] = ['', '']
  return line.split(/(\u001B\[[\d;]*m)/).flatMap((part) => {
    const codes = /^\u001B\[([\d;]*)m$/.exec(part)?.[1]
    if (codes === undefined)
      return part === '' ? [] : [{text: part, classes: [weight, colour].filter((name) => name !== '')}]
    for (const code of codes.split(';').map(Number)) {
      if (code === 0) [weight, colour] = ['', '']
      else if (code === 22) weight = ''
      else if (code === 39) colour = ''
      else if (code <= 2) weight = code === 1 ? 'bold' : 'dim'
      else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) colour = COLOURS[code % 10] ?? ''
    }
    return []
  })
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const round = (value: number): number => Math.round(value * 100) / 100
