import type {Trial} from '../protocol/index.ts'
import type {Sweep} from './types.ts'
import {bestOf} from './words.ts'

/** Size of the picture and of what is around the axes, in the picture's own units. */
const [WIDTH, HEIGHT] = [960, 540]
const [TOP, BOTTOM, SIDE] = [96, 84, 80]
/**
 * Viridis (van der Walt and Smith, 2015), from low to high: as good in print without colour, and for those who see red
 * and green alike.
 */
const COLOURS = ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725'] as const
/** The lightest third of it is too pale for lines on paper. */
const DARKEST_SHARE = 0.82
const TICKS = 5

interface Axis {
  name: string
  x: number
  /** From 0 (bottom) to 1 (top); undefined where a trial has no value there. */
  place(trial: Trial): number | undefined
  ticks: {at: number; label: string}[]
  /** `log`, or what is good. */
  note: string
  /** Its numbers are to the right of it, where no line goes. */
  right?: boolean
}

/**
 * Every complete trial as one line over an axis for each parameter and one for the metric, as one SVG that needs
 * nothing else: coloured by the metric, the best one thick, each with its values as a title. Pure.
 */
export function parallelPlot(sweep: Sweep): string {
  const {spec} = sweep
  const trials = sweep.trials.filter((one) => one.state === 'complete' && one.value !== null)
  const axes = axesOf(sweep, trials)
  const metric = axes.at(-1) as Axis
  const best = bestOf(sweep.trials, spec.goal)
  const goodness = (one: Trial): number =>
    spec.goal === 'maximize' ? (metric.place(one) ?? 0) : 1 - (metric.place(one) ?? 0)
  // The good ones last, above the others.
  const lines = trials
    .toSorted((a, b) => goodness(a) - goodness(b) || b.number - a.number)
    .map((one) => lineOf(one, axes, goodness(one), one === best, spec.metric))
  const counts = `${trials.length} of ${sweep.trials.length} trials complete, ${spec.goal} ${spec.metric}, ${spec.sampler}`
  const reported = best
    ? `best: trial ${best.number}, ${spec.metric} ${tickText(best.value ?? NaN)}: ${Object.entries(best.texts)
        .map(([name, text]) => `${name} ${text}`)
        .join(', ')}`
    : 'no trial is complete'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#222">`,
    `<title>${escape(`Trials of ${sweep.sweep}`)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${SIDE / 2}" y="28" font-size="17" font-weight="600">${escape(sweep.sweep)}</text>`,
    `<text x="${SIDE / 2}" y="48">${escape(counts)}</text>`,
    `<g id="trials" fill="none">`,
    ...lines,
    '</g>',
    `<g id="axes">`,
    ...axes.map(axisOf),
    '</g>',
    legend(metric, spec.goal),
    `<text x="${SIDE / 2}" y="${HEIGHT - 14}">${escape(shorten(reported, 150))}</text>`,
    '</svg>',
    '',
  ].join('\n')
}

function axesOf({spec}: Sweep, trials: Trial[]): Axis[] {
  const names = Object.keys(spec.parameters)
  const step = (WIDTH - 2 * SIDE) / names.length
  const axes = Object.entries(spec.parameters).map(([name, one], index): Axis => {
    const x = SIDE + index * step
    if ('choices' in one) {
      const at = (position: number): number => (one.choices.length === 1 ? 0.5 : position / (one.choices.length - 1))
      const shown = one.choices.length <= 12 ? 1 : Math.ceil(one.choices.length / 12)
      return {
        name,
        x,
        note: '',
        place: (trial) => placeOrNone(one.choices.indexOf(trial.params[name] as string), at),
        ticks: one.choices.flatMap((choice, position) =>
          position % shown === 0 ? [{at: at(position), label: shorten(String(choice), 14)}] : [],
        ),
      }
    }
    return {
      name,
      x,
      note: one.log ? 'log' : '',
      ...scaleOf(one.min, one.max, one.log, one.integer, (trial) => trial.params[name]),
    }
  })
  const values = trials.map((one) => one.value ?? 0)
  const [low, high] = values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)]
  return [
    ...axes,
    {
      name: spec.metric,
      x: WIDTH - SIDE,
      note: spec.goal,
      right: true,
      ...scaleOf(low, high, false, false, (trial) => trial.value),
    },
  ]
}

function placeOrNone(position: number, at: (position: number) => number): number | undefined {
  return position < 0 ? undefined : at(position)
}

function scaleOf(
  low: number,
  high: number,
  log: boolean,
  whole: boolean,
  valueOf: (trial: Trial) => unknown,
): Pick<Axis, 'place' | 'ticks'> {
  const [from, to] = log ? [Math.log10(low), Math.log10(high)] : [low, high]
  const at = (value: number): number => (to === from ? 0.5 : ((log ? Math.log10(value) : value) - from) / (to - from))
  return {
    place: (trial) => {
      const value = valueOf(trial)
      return typeof value === 'number' ? at(value) : undefined
    },
    ticks: (log ? decades(low, high) : evenly(low, high, whole)).map((value) => ({
      at: at(value),
      label: tickText(value),
    })),
  }
}

/** The ends, and whole powers of ten between them that are not too near to these. */
function decades(low: number, high: number): number[] {
  const powers = Array.from({length: Math.floor(Math.log10(high) - Math.log10(low)) + 2}, (_, index) =>
    Number(`1e${Math.ceil(Math.log10(low)) + index}`),
  )
  const gap = (Math.log10(high) - Math.log10(low)) / 20
  return [low, ...powers.filter((one) => Math.log10(one / low) > gap && Math.log10(high / one) > gap), high]
}

function evenly(low: number, high: number, whole: boolean): number[] {
  if (low === high) return [low]
  const count = whole ? Math.min(TICKS, high - low + 1) : TICKS
  const values = Array.from({length: count}, (_, index) => low + ((high - low) * index) / (count - 1))
  return whole ? [...new Set(values.map(Math.round))] : values
}

function lineOf(trial: Trial, axes: Axis[], goodness: number, best: boolean, metric: string): string {
  const points = axes.flatMap((axis) => {
    const at = axis.place(trial)
    return at === undefined ? [] : [`${round(axis.x)},${round(yOf(at))}`]
  })
  const title = `trial ${trial.number}: ${metric} ${trial.value}, ${Object.entries(trial.texts)
    .map(([name, text]) => `${name} ${text}`)
    .join(', ')}`
  return `<polyline data-trial="${trial.number}" points="${points.join(' ')}" stroke="${colourOf(goodness)}" stroke-width="${best ? 4 : 1.6}" stroke-opacity="${best ? 1 : 0.75}"><title>${escape(title)}</title></polyline>`
}

function axisOf({name, x, ticks, note, right}: Axis): string {
  const marks = ticks.map(({at, label}) => {
    const y = round(yOf(at))
    return `<path d="M${round(x - 4)} ${y}h8" stroke="#222"/><text x="${round(right ? x + 8 : x - 8)}" y="${round(y + 4)}" text-anchor="${right ? 'start' : 'end'}" paint-order="stroke" stroke="#fff" stroke-width="4">${escape(label)}</text>`
  })
  return [
    `<g class="axis"><path d="M${round(x)} ${TOP}V${HEIGHT - BOTTOM}" stroke="#222" stroke-width="1.2"/>`,
    `<text x="${round(x)}" y="${TOP - 14}" text-anchor="middle" font-weight="600">${escape(shorten(name, 22))}</text>`,
    ...(note
      ? [
          `<text x="${round(x)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle" font-style="italic">${escape(note)}</text>`,
        ]
      : []),
    ...marks,
    '</g>',
  ].join('')
}

/** What the colours mean: from bad to good. */
function legend(metric: Axis, goal: Sweep['spec']['goal']): string {
  const [low, high] = [metric.ticks[0]?.label ?? '', metric.ticks.at(-1)?.label ?? '']
  const stops = COLOURS.map((_, index) => index / (COLOURS.length - 1)).map(
    (at) => `<stop offset="${at}" stop-color="${colourOf(at)}"/>`,
  )
  const x = WIDTH - SIDE - 180
  return [
    `<defs><linearGradient id="goodness">${stops.join('')}</linearGradient></defs>`,
    `<rect x="${x}" y="38" width="140" height="10" fill="url(#goodness)"/>`,
    `<text x="${x - 6}" y="48" text-anchor="end">${escape(goal === 'maximize' ? low : high)}</text><text x="${x + 146}" y="48">${escape(goal === 'maximize' ? high : low)}</text>`,
  ].join('\n')
}

function yOf(at: number): number {
  return HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM)
}

function colourOf(goodness: number): string {
  const at = Math.min(1, Math.max(0, goodness)) * DARKEST_SHARE * (COLOURS.length - 1)
  const index = Math.min(COLOURS.length - 2, Math.floor(at))
  const [from, to] = [COLOURS[index] as string, COLOURS[index + 1] as string].map((hex) =>
    [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16)),
  ) as [number[], number[]]
  return `#${from
    .map((one, channel) =>
      Math.round(one + ((to[channel] ?? one) - one) * (at - index))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

function tickText(value: number): string {
  if (value === 0) return '0'
  return Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3
    ? value.toExponential(Number(value.toPrecision(2)) === Number(value.toPrecision(1)) ? 0 : 1)
    : String(Number(value.toPrecision(3)))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
