import {shortNumber} from './metric-text.ts'

/** Dots of a braille cell by column and row: Unicode, Braille Patterns U+2800. */
const DOTS = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const

/** A curve over steps, drawn with braille dots: two columns and four rows a character. */
export function chartText(
  title: string,
  values: {step: number; value: number}[],
  size: {width: number; height: number},
): string {
  const shown = values.filter((one) => Number.isFinite(one.value))
  if (shown.length === 0) return `${title}: no values`
  const [low, high] = [Math.min(...shown.map((one) => one.value)), Math.max(...shown.map((one) => one.value))]
  const [first, last] = [Math.min(...shown.map((one) => one.step)), Math.max(...shown.map((one) => one.step))]
  const labels = [shortNumber(high), shortNumber(low)]
  const margin = Math.max(...labels.map((label) => label.length))
  const columns = Math.max(10, size.width - margin - 2)
  const cells = Array.from({length: size.height}, () => Array.from({length: columns}, () => 0))
  const points = shown.map(({step, value}) => ({
    x: last === first ? 0 : Math.round(((step - first) / (last - first)) * (columns * 2 - 1)),
    y: high === low ? size.height * 2 : Math.round(((high - value) / (high - low)) * (size.height * 4 - 1)),
  }))
  for (const [index, point] of points.entries())
    for (const dot of between(points[index - 1] ?? point, point)) light(cells, dot)
  const rows = cells.map((row, index) => {
    const label = index === 0 ? labels[0] : index === size.height - 1 ? labels[1] : ''
    return `${(label ?? '').padStart(margin)} \u2502${row.map((bits) => String.fromCodePoint(0x2800 + bits)).join('')}`
  })
  const from = `step ${first}`
  const axis = `${' '.repeat(margin)} \u2514${'\u2500'.repeat(columns)}`
  return [
    title,
    ...rows,
    axis,
    `${' '.repeat(margin + 2)}${from}${String(last).padStart(Math.max(1, columns - from.length))}`,
  ].join('\n')
}

/** Every dot on the line from one point to the next. */
function between(from: {x: number; y: number}, to: {x: number; y: number}): {x: number; y: number}[] {
  const steps = Math.max(1, Math.abs(to.x - from.x), Math.abs(to.y - from.y))
  return Array.from({length: steps + 1}, (_, index) => ({
    x: Math.round(from.x + ((to.x - from.x) * index) / steps),
    y: Math.round(from.y + ((to.y - from.y) * index) / steps),
  }))
}

function light(cells: number[][], {x, y}: {x: number; y: number}): void {
  const row = cells[Math.min(cells.length - 1, Math.floor(y / 4))] as number[]
  const column = Math.min(row.length - 1, Math.floor(x / 2))
  row[column] = (row[column] ?? 0) | DOTS[(x % 2) as 0 | 1][(y % 4) as 0 | 1 | 2 | 3]
}
