import {count, sizeText} from '../../lib/base/index.ts'
import type {NodeLoad, RankLoad, RunView} from '../../lib/runs/index.ts'
import {metricTexts} from './metric-text.ts'
import {paint} from '../terminal/print.ts'
import {clip, duration, table, visibleWidth, type Column} from '../terminal/render.ts'

/** More ranks than this are told of by node. */
const MOST_RANKS = 8
/** Room for the head and one row; below that the head alone is shown. */
const LEAST_ROWS = 5

/**
 * The panel of a run that goes on: a head, and a row a rank or a node, no line wider and no more lines than the screen
 * has. Pure.
 */
export function watchText(view: RunView, {width, height}: {width: number; height: number}): string {
  const head = headLines(view, width)
  const room = height - head.length - 1
  const body = height < LEAST_ROWS || room < 2 ? [] : bodyLines(view, width, room)
  return [...head.slice(0, Math.max(1, height)), ...body].map((line) => clip(line, width)).join('\n')
}

/** The same in one line, for a pipe and for the line under a training's output. */
export function watchLine(view: RunView): string {
  const parts = [
    view.step === null ? undefined : stepText(view),
    ...rateTexts(view),
    ...metricTexts(view.metrics, 2).texts,
    view.dataWait === null ? undefined : `data wait ${percent(view.dataWait * 100)}`,
    ...loadTexts(view),
    view.lost.length > 0 ? `no answer from ${view.lost.join(', ')}` : undefined,
  ]
  const known = parts.filter((part) => part !== undefined)
  return known.length === 0 ? view.status : known.join(', ')
}

function headLines(view: RunView, width: number): string[] {
  const first = [
    paint.bold(view.run),
    paint.cyan(view.status),
    view.attempt > 1 ? `attempt ${view.attempt}` : '',
    view.elapsed === null ? '' : duration(view.elapsed),
    count(view.worldSize, 'rank'),
  ].filter((part) => part !== '')
  const rates = [
    ...(view.step === null ? [] : [stepText(view)]),
    ...rateTexts(view),
    ...(view.dataWait === null ? [] : [`data wait ${percent(view.dataWait * 100)}`]),
  ]
  const rest = [...metricTexts(view.metrics, 3).texts, ...(view.away ? [paint.dim(`metrics: ${view.away}`)] : [])]
  return [
    ...wrap(first, width),
    ...wrap(rates, width),
    ...wrap(rest, width),
    ...(view.lost.length > 0
      ? [paint.yellow(`no answer from ${view.lost.join(', ')}: what is shown of them is old`)]
      : []),
  ]
}

function bodyLines(view: RunView, width: number, room: number): string[] {
  if (view.ranks.length > MOST_RANKS || view.ranks.length === 0)
    return folded(view.nodes, room - 1, 'node', (rows) => nodeTable(rows, width))
  const ranks = folded(view.ranks, room - 1, 'rank', (rows) => rankTable(rows, width))
  const nodes = nodeTable(view.nodes, width).split('\n')
  // Both where there is room; what the ranks do comes first.
  return ranks.length + nodes.length + 1 <= room ? [...ranks, '', ...nodes] : ranks
}

/** As many rows as there is room for. Those that are furthest behind are shown: nobody is waited for but them. */
function folded<T extends {step: number | null}>(
  rows: T[],
  room: number,
  noun: string,
  text: (rows: T[]) => string,
): string[] {
  if (rows.length === 0) return []
  if (rows.length <= room) return text(rows).split('\n')
  const shown = Math.max(1, room - 1)
  const behind = new Set(rows.toSorted((a, b) => (a.step ?? 0) - (b.step ?? 0)).slice(0, shown))
  return [
    ...text(rows.filter((row) => behind.has(row))).split('\n'),
    paint.dim(`and ${count(rows.length - shown, `other ${noun}`)}; those furthest behind are shown`),
  ]
}

function rankTable(ranks: RankLoad[], width: number): string {
  const rows = ranks.map((one) => ({
    rank: String(one.rank),
    node: one.node,
    step: known(one.step, String),
    pace: known(one.stepsPerSecond, rate),
    samples: known(one.samplesPerSecond, rate),
    tokens: known(one.tokensPerSecond, rate),
    wait: known(one.dataWait, (share) => percent(share * 100)),
    cpu: known(one.cpu, percent),
    memory: known(one.memory, sizeText),
    doing: one.waitsIn ? `in ${one.waitsIn}` : undefined,
  }))
  return table(
    rows,
    only(
      rows,
      [
        right('rank'),
        {key: 'node', spare: true},
        right('step'),
        right('pace', 'STEPS/S'),
        right('samples', 'SAMPLES/S'),
        right('tokens', 'TOKENS/S', true),
        right('wait', 'DATA WAIT', true),
        right('cpu', 'CPU'),
        right('memory', 'MEMORY', true),
        {key: 'doing', title: 'WAITS', spare: true},
      ],
      ['tokens', 'samples', 'doing'],
    ),
    width,
  )
}

function nodeTable(nodes: NodeLoad[], width: number): string {
  const rows = nodes.map((one) => ({
    node: one.node,
    ranks: String(one.ranks),
    step: known(one.step, String),
    samples: known(one.samplesPerSecond, rate),
    tokens: known(one.tokensPerSecond, rate),
    wait: known(one.dataWait, (share) => percent(share * 100)),
    cpu: known(one.cpu, percent),
    memory:
      one.memory === null
        ? undefined
        : `${sizeText(one.memory)}${one.memoryTotal === null ? '' : ` of ${sizeText(one.memoryTotal)}`}`,
    gpu: known(one.gpu, (value) => `${percent(value)}${one.gpus > 1 ? ` of ${one.gpus}` : ''}`),
    vram: known(one.gpuMemory, sizeText),
    power: known(one.power, (watts) => `${Math.round(watts)} W`),
    in: known(one.netIn, (value) => `${sizeText(value)}/s`),
    out: known(one.netOut, (value) => `${sizeText(value)}/s`),
  }))
  return table(
    rows,
    only(
      rows,
      [
        {key: 'node'},
        right('ranks', 'RANKS', true),
        right('step'),
        right('samples', 'SAMPLES/S', true),
        right('tokens', 'TOKENS/S', true),
        right('wait', 'DATA WAIT', true),
        right('cpu', 'CPU'),
        right('gpu', 'GPU'),
        right('in', 'NET IN', true),
        right('out', 'NET OUT', true),
        right('memory', 'MEMORY', true),
        right('vram', 'GPU MEMORY', true),
        right('power', 'POWER', true),
      ],
      ['step', 'samples', 'tokens', 'wait', 'gpu', 'vram', 'power'],
    ),
    width,
  )
}

/** Columns without those of `optional` that nobody has a value for. */
function only(rows: Record<string, string | undefined>[], columns: Column[], optional: string[]): Column[] {
  return columns.filter((column) => !optional.includes(column.key) || rows.some((row) => row[column.key] !== undefined))
}

function right(key: string, title?: string, spare?: boolean): Column {
  return {key, align: 'right', ...(title !== undefined && {title}), ...(spare && {spare})}
}

function stepText({step}: RunView): string {
  return step === null
    ? 'step -'
    : step.least === step.most
      ? `step ${step.least}`
      : `step ${step.least} to ${step.most}`
}

function rateTexts(view: RunView): string[] {
  const units: [number | null, string][] = [
    [view.stepsPerSecond, 'steps/s'],
    [view.samplesPerSecond, 'samples/s'],
    [view.tokensPerSecond, 'tokens/s'],
  ]
  return units.flatMap(([value, unit]) => (value === null ? [] : [`${rate(value)} ${unit}`]))
}

function loadTexts({nodes}: RunView): string[] {
  const average = (pick: (one: NodeLoad) => number | null): number | null => {
    const values = nodes.flatMap((one) => pick(one) ?? [])
    return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length
  }
  const [cpu, gpu, into, out] = [
    average((one) => one.cpu),
    average((one) => one.gpu),
    average((one) => one.netIn),
    average((one) => one.netOut),
  ]
  return [
    ...(cpu === null ? [] : [`CPU ${percent(cpu)}`]),
    ...(gpu === null ? [] : [`GPU ${percent(gpu)}`]),
    ...(into === null || out === null
      ? []
      : [`net ${sizeText(into)}/s in, ${sizeText(out)}/s out${nodes.length > 1 ? ' a node' : ''}`]),
  ]
}

/** Parts beside each other, three spaces apart, in as many lines as it takes. */
function wrap(parts: string[], width: number): string[] {
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last !== undefined && visibleWidth(last) + 3 + visibleWidth(part) <= width)
      lines[lines.length - 1] = `${last}   ${part}`
    else lines.push(part)
  }
  return lines
}

function known<T>(value: T | null, text: (value: T) => string): string | undefined {
  return value === null ? undefined : text(value)
}

function percent(value: number): string {
  return `${value >= 10 || value === 0 ? Math.round(value) : value.toFixed(1)} %`
}

function rate(value: number): string {
  return value >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))
}
