/** One line of a chart: a name and a value for each x. */
export interface Line {
  name: string
  values: number[]
}

export interface Panel {
  title: string
  /** What the axes measure, with units. */
  x: string
  y: string
  at: number[]
  lines: Line[]
}

const [WIDTH, HEIGHT] = [430, 300]
const EDGE = {left: 62, right: 16, top: 40, bottom: 48}
/** Colours that people who do not see all of them tell apart (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#555555']
const LEGEND_ROW = 20
const LEGEND_COLUMN = 280

/**
 * Panels side by side with the same lines, one legend below, and a note under that: an SVG that needs no program to be
 * read.
 */
export function drawLines(panels: Panel[], note: string): string {
  const names = panels[0]?.lines.map((line) => line.name) ?? []
  const columns = Math.max(1, Math.floor((panels.length * WIDTH) / LEGEND_COLUMN))
  const rows = Math.ceil(names.length / columns)
  const [width, height] = [panels.length * WIDTH, HEIGHT + rows * LEGEND_ROW + 34]
  const legend = names.map((name, index) => {
    const [x, y] = [
      EDGE.left + (index % columns) * LEGEND_COLUMN,
      HEIGHT + 14 + Math.floor(index / columns) * LEGEND_ROW,
    ]
    return `<line x1="${x}" y1="${y - 4}" x2="${x + 22}" y2="${y - 4}" stroke="${colour(index)}" stroke-width="2.5"/>${text(x + 28, y, name)}`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12" fill="#222">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...panels.map((panel, index) => `<g transform="translate(${index * WIDTH} 0)">${drawPanel(panel)}</g>`),
    ...legend,
    text(EDGE.left, height - 12, note, 'font-size="11" fill="#666"'),
    '</svg>',
    '',
  ].join('\n')
}

function drawPanel({title, x, y, at, lines}: Panel): string {
  const step = niceStep(Math.max(...lines.flatMap((line) => line.values)) / 5)
  const top = step * Math.ceil(Math.max(...lines.flatMap((line) => line.values)) / step)
  const last = Math.max(...at)
  const [right, bottom] = [WIDTH - EDGE.right, HEIGHT - EDGE.bottom]
  const px = (value: number): number => round(EDGE.left + (value / last) * (right - EDGE.left))
  const py = (value: number): number => round(bottom - (value / top) * (bottom - EDGE.top))
  const marks = Array.from({length: Math.round(top / step) + 1}, (_, index) => round(index * step))
  return [
    text(EDGE.left, 22, title, 'font-size="14" font-weight="bold"'),
    ...marks.map(
      (value) =>
        `<line x1="${EDGE.left}" y1="${py(value)}" x2="${right}" y2="${py(value)}" stroke="#ddd"/>${text(EDGE.left - 6, py(value) + 4, String(value), 'text-anchor="end"')}`,
    ),
    ...at.map(
      (value) =>
        `<line x1="${px(value)}" y1="${bottom}" x2="${px(value)}" y2="${bottom + 4}" stroke="#222"/>${text(px(value), bottom + 18, String(value), 'text-anchor="middle"')}`,
    ),
    `<path d="M${EDGE.left} ${EDGE.top}V${bottom}H${right}" fill="none" stroke="#222"/>`,
    text((EDGE.left + right) / 2, HEIGHT - 12, x, 'text-anchor="middle"'),
    text(0, 0, y, `text-anchor="middle" transform="translate(14 ${(EDGE.top + bottom) / 2}) rotate(-90)"`),
    ...lines.map(({values}, index) => {
      const points = values.map((value, place) => `${px(at[place] as number)},${py(value)}`)
      return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour(index)}" stroke-width="2.5"/>${points.map((point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="3" fill="${colour(index)}"/>`).join('')}`
    }),
  ].join('\n')
}

/** 1, 2 or 5 times a power of ten, not smaller than this. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10) * power
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${x}" y="${y}" ${attributes}>${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`
}

const colour = (index: number): string => COLOURS[index % COLOURS.length] as string
const round = (value: number): number => Math.round(value * 100) / 100
