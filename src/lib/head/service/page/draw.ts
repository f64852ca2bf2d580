import {html, type Html} from './html.ts'

/**
 * Small pictures of numbers, as SVG: attributes of SVG are no styles, which the page's policy forbids inside of
 * documents.
 */

/** A share 0..1 as a bar; `level` colours it where much is bad. */
export function meter(share: number | null, label: string, kind: 'plain' | 'load' = 'plain'): Html {
  const width = Math.round(Math.min(1, Math.max(0, share ?? 0)) * 100)
  const level = kind === 'load' && width >= 95 ? ' high' : kind === 'load' && width >= 85 ? ' raised' : ''
  return html`<svg
    class="meter${level}"
    viewBox="0 0 100 6"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    <rect class="track" width="100" height="6" />
    <rect class="fill" width="${width}" height="6" />
  </svg>`
}

/** Values 0..1 of one after the other look as a line; the newest is at the right. `room`: how many there may be. */
export function spark(values: readonly (number | null)[], room: number, label: string): Html {
  const known = values.slice(-room)
  const points = known.flatMap((value, index) =>
    value === null
      ? []
      : [`${round(((room - known.length + index) / Math.max(1, room - 1)) * 100)},${round(19 - value * 18)}`],
  )
  const [first, last] = [points[0]?.split(',')[0], points.at(-1)?.split(',')[0]]
  const area =
    points.length > 1 ? html`<polygon class="area" points="${first},20 ${points.join(' ')} ${last},20" />` : undefined
  return html`<svg class="spark" viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label="${label}">
    ${area}
    <polyline points="${points.join(' ')}" />
  </svg>`
}

export interface Curve {
  name: string
  /** x and y, by x. */
  points: [number, number][]
}

const [WIDTH, HEIGHT] = [560, 220]
const EDGE = {left: 54, right: 12, top: 10, bottom: 26}
/** More points than pixels show nothing more. */
const MOST_POINTS = 600
/** Classes c0 .. c7 of the style have their colours. */
export const CURVES = 8

/** Curves over one x axis, with lines and numbers at round values; `log`: y in powers of ten where all are positive. */
export function curves(lines: readonly Curve[], {title, x, log}: {title: string; x: string; log: boolean}): Html {
  const whole = lines.map((line) => ({
    ...line,
    points: line.points.filter(([at, value]) => finite(at) && finite(value)),
  }))
  const all = whole.flatMap((line) => line.points)
  const shown = whole.map((line) => ({...line, points: thin(line.points)}))
  if (all.length === 0) return html`<p class="none">${title}: no values yet.</p>`
  const isLog = log && all.every(([, value]) => value > 0)
  const scaled = (value: number): number => (isLog ? Math.log10(value) : value)
  const xs = span(all.map(([at]) => at))
  const ys = span(all.map(([, value]) => scaled(value)))
  const [right, bottom] = [WIDTH - EDGE.right, HEIGHT - EDGE.bottom]
  const px = (at: number): number => round(EDGE.left + ((at - xs.low) / (xs.high - xs.low)) * (right - EDGE.left))
  const py = (value: number): number =>
    round(bottom - ((scaled(value) - ys.low) / (ys.high - ys.low)) * (bottom - EDGE.top))
  const told = whole.flatMap(({name, points}) =>
    points.length > 0 ? `${name} ended at ${short(points.at(-1)![1])}` : [],
  )
  const yMark = (mark: number): Html => {
    const value = isLog ? 10 ** mark : mark
    const y = py(value)
    return html`<line class="grid" x1="${EDGE.left}" x2="${right}" y1="${y}" y2="${y}" /><text
        class="tick"
        x="${EDGE.left - 6}"
        y="${y + 4}"
        text-anchor="end"
        >${short(value)}</text
      >`
  }
  const curve = ({name, points}: Curve, index: number): Html => {
    const at = points.map(([here, value]) => `${px(here)},${py(value)}`)
    const [first] = points
    const dot =
      points.length === 1 &&
      first &&
      html`<circle class="dot c${index % CURVES}" cx="${px(first[0])}" cy="${py(first[1])}" r="3" />`
    return html`<polyline class="curve c${index % CURVES}" points="${at.join(' ')}"><title>${name}</title></polyline
      >${dot}`
  }
  return html`<svg
    class="curves"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    role="img"
    aria-label="${title} over ${x}: ${told.join(', ')}"
    data-x="${xs.low},${xs.high}"
    data-y="${ys.low},${ys.high}"
    data-edge="${EDGE.left},${right}"
    data-rise="${EDGE.top},${bottom}"
    data-log="${isLog ? 'yes' : ''}"
  >
    ${marks(ys).map(yMark)}
    ${marks(xs).map((at) => html`<text class="tick" x="${px(at)}" y="${HEIGHT - 8}" text-anchor="middle">${short(at)}</text>`)}
    ${shown.map(curve)}
  </svg>`
}

/** At most so many points: of each stretch its lowest and highest, so that no peak is lost. */
function thin(points: [number, number][]): [number, number][] {
  if (points.length <= MOST_POINTS) return points
  const size = (points.length * 2) / MOST_POINTS
  const kept: [number, number][] = []
  for (let from = 0; from < points.length; from += size) {
    const part = points.slice(Math.floor(from), Math.floor(from + size))
    const low = part.reduce((a, b) => (b[1] < a[1] ? b : a), part[0]!)
    const high = part.reduce((a, b) => (b[1] > a[1] ? b : a), part[0]!)
    kept.push(...(low === high ? [low] : low[0] < high[0] ? [low, high] : [high, low]))
  }
  return kept
}

function span(values: number[]): {low: number; high: number} {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)]
  if (low !== high) return {low, high}
  const around = Math.abs(low) * 0.1 || 1
  return {low: low - around, high: high + around}
}

/** Round values within, some four of them. */
function marks({low, high}: {low: number; high: number}): number[] {
  const power = 10 ** Math.floor(Math.log10((high - low) / 4))
  const step = ([1, 2, 5, 10].find((factor) => factor * power * 5 >= high - low) ?? 10) * power
  const first = Math.ceil(low / step)
  const count = Math.floor(high / step) - first + 1
  return Array.from({length: Math.max(0, Math.min(12, count))}, (_, index) => (first + index) * step)
}

/** Four digits that matter, or k, M and G. */
export function short(value: number): string {
  if (!finite(value)) return String(value)
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-3 || size >= 1e12)) return value.toExponential(2)
  for (const [unit, name] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
  ] as const)
    if (size >= unit) return `${trim(value / (unit === 1e4 ? 1e3 : unit))}${name}`
  return trim(value)
}

const trim = (value: number): string => String(Number(value.toPrecision(4)))
const round = (value: number): number => Math.round(value * 10) / 10
const finite = (value: number): boolean => Number.isFinite(value)
