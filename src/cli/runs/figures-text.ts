import {count, sizeText} from '../../lib/base/index.ts'
import type {Efficiency, RankFigures, RunFigures} from '../../lib/runs/index.ts'
import {duration} from '../terminal/render.ts'

/** More ranks than this are told of in one line: the slowest and the fastest. */
const MOST_RANKS = 8

/** What `runs show` says of how fast a run was and what it used. */
export function figureFields(
  figures: RunFigures,
  scaling: Efficiency | null,
): [name: string, value: string | undefined][] {
  const {dataWait, cpu, gpu, gpuHours, cpuHours, received, sent} = figures
  return [
    ['throughput', throughputText(figures)],
    [
      'scaling',
      scaling && (figures.samplesPerSecond !== null || figures.tokensPerSecond !== null)
        ? scalingText(scaling)
        : undefined,
    ],
    [
      'data wait',
      dataWait
        ? `${percent(dataWait.share)} of the steps' time: ${duration(dataWait.seconds * 1000)} of all ranks together`
        : undefined,
    ],
    [
      'used',
      [
        ...(gpuHours > 0 ? [timeOf(gpuHours, 'GPU')] : []),
        ...(gpu === null ? [] : [`GPUs busy ${percent(gpu / 100)}`]),
        ...(cpuHours > 0 ? [timeOf(cpuHours, 'core')] : []),
        ...(cpu === null ? [] : [`CPUs busy ${percent(cpu / 100)}`]),
        ...(received === null || sent === null ? [] : [`network ${sizeText(received)} in, ${sizeText(sent)} out`]),
      ].join(', '),
    ],
  ]
}

/** Hours with two digits that matter: `0.0042`, `3.1`, `128`. */
export function hours(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}

/** A run of seconds has used seconds. */
function timeOf(value: number, what: 'GPU' | 'core'): string {
  return value < 0.01 ? `${hours(value * 3600)} ${what} seconds` : `${hours(value)} ${what} hours`
}

function throughputText({samplesPerSecond, tokensPerSecond, ranks}: RunFigures): string | undefined {
  const unit = samplesPerSecond !== null ? 'samples' : tokensPerSecond !== null ? 'tokens' : undefined
  if (unit === undefined)
    return ranks.length > 0
      ? `not known: the ranks told of ${ranks.some((one) => one.steps) ? 'steps, and of no samples' : 'no steps'}`
      : undefined
  const rateOf = (one: RankFigures): number => (unit === 'samples' ? one.samplesPerSecond : one.tokensPerSecond) ?? 0
  const total = `${rate((unit === 'samples' ? samplesPerSecond : tokensPerSecond) ?? 0)} ${unit}/s`
  const tokens = unit === 'samples' && tokensPerSecond !== null ? ` (${rate(tokensPerSecond)} tokens/s)` : ''
  const sorted = ranks.toSorted((a, b) => rateOf(a) - rateOf(b))
  const [slowest, fastest] = [sorted[0], sorted.at(-1)]
  if (!slowest || !fastest || ranks.length === 1) return total + tokens
  if (ranks.length > MOST_RANKS)
    return `${total}${tokens}; a rank ${rate(rateOf(slowest))} (rank ${slowest.rank} on ${slowest.node}) to ${rate(rateOf(fastest))}`
  return `${total}${tokens}\n${ranks.map((one) => `rank ${one.rank} on ${one.node}: ${rate(rateOf(one))}${one.dataWait && one.dataWait.share >= 0.005 ? `, data wait ${percent(one.dataWait.share)}` : ''}`).join('\n')}`
}

function scalingText({efficiency, reference, referenceNodes, referenceRate, unit, why}: Efficiency): string {
  if (efficiency === null || referenceRate === null) return `not known: ${why}`
  return `${percent(efficiency)} of linear from ${reference}, which had ${rate(referenceRate)} ${unit}/s on ${count(referenceNodes ?? 1, 'node')} (${why})`
}

function percent(share: number): string {
  return `${share >= 0.1 || share === 0 ? Math.round(share * 100) : (share * 100).toFixed(1)} %`
}

function rate(value: number): string {
  return value >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))
}
