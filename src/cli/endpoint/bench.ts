import {CliError, count, sizeText, type Context} from '../../lib/base/index.ts'
import type {BenchReport, LoadStep} from '../../lib/endpoint/index.ts'
import {table} from '../terminal/render.ts'

const FASTEST = 100_000

/** `50,100`: requests a second. Errors: USAGE. */
export function readRates(text: string | undefined): number[] {
  if (text === undefined) return []
  return text.split(',').map((word) => {
    const rate = Number(word)
    if (word.trim() !== '' && rate > 0 && rate <= FASTEST) return rate
    throw new CliError('USAGE', `"${word}" is no rate`, {hint: 'requests a second, such as --rates 50,100,200'})
  })
}

/** Errors: LOCAL_FAILED where the file cannot be written. */
export async function savePlot(file: string, report: BenchReport, {reporter}: Context): Promise<void> {
  if (report.steps.every(({answered}) => answered === 0)) {
    reporter.warn(`nothing was answered, so there is nothing to draw: ${file} was not written`)
    return
  }
  const [{benchPlot}, {savePicture}] = await Promise.all([
    import('../../lib/endpoint/index.ts'),
    import('../../lib/chart/index.ts'),
  ])
  await savePicture(file, benchPlot(report))
}

export function benchText(report: BenchReport): string {
  const {endpoint, model, release, servers, way, bytes, alone, steps, holds} = report
  const right = (key: string): {key: string; align: 'right'} => ({key, align: 'right'})
  const streams = steps.some(({first, p50}) => first !== null && p50 !== null && first < p50 / 2)
  const rows = steps.map((step) => ({
    'requests/s': String(step.rate),
    'answers/s': String(step.throughput),
    ...(streams && {first: milliseconds(step.first)}),
    p50: milliseconds(step.p50),
    p90: milliseconds(step.p90),
    p99: milliseconds(step.p99),
    max: milliseconds(step.max),
    failed: failedText(step),
  }))
  const columns = ['requests/s', 'answers/s', ...(streams ? ['first'] : []), 'p50', 'p90', 'p99', 'max'].map(right)
  const late = steps.filter((step) => step.late > step.sent / 100).map(({rate}) => rate)
  const best = steps.find(({rate}) => rate === holds)
  return [
    `${endpoint} serves ${model} (release ${release}) on ${count(servers, 'server')}; requests of ${sizeText(bytes)}, ` +
      (way === 'address' ? 'to its own address.' : 'through SSH, as this machine does not reach its own address.'),
    `One after the other, half the answers take ${alone} ms or less.`,
    '',
    table(rows, [...columns, 'failed']),
    '',
    ...(late.length > 0 ? [`This machine was too busy to send on time at ${late.join(', ')} requests a second.`] : []),
    best === undefined
      ? 'It kept up at none of these rates.'
      : `It kept up with ${best.rate} requests a second: 99 % of the answers in ${milliseconds(best.p99)}.`,
  ].join('\n')
}

const milliseconds = (value: number | null): string => (value === null ? '-' : `${value} ms`)

function failedText({failed, sent}: LoadStep): string | undefined {
  const reasons = Object.entries(failed).sort(([, a], [, b]) => b - a)
  if (reasons.length === 0) return undefined
  const all = reasons.reduce((sum, [, times]) => sum + times, 0)
  return `${all} of ${sent}: ${reasons.map(([why, times]) => (reasons.length > 1 ? `${why} (${times})` : why)).join(', ')}`
}
