import {drawLines} from '../../chart/index.ts'
import type {BenchReport} from './bench.ts'

/** Latency against rate, as one SVG. Pure. */
export function benchPlot(report: BenchReport): string {
  const answered = report.steps.filter(({p99}) => p99 !== null)
  const at = answered.map(({rate}) => rate)
  const quantiles = (['p50', 'p90', 'p99'] as const).map((name) => ({
    name,
    values: answered.map((step) => step[name] ?? 0),
  }))
  const {endpoint, model, servers, seconds} = report
  return drawLines(
    [{title: `Latency of ${endpoint}`, x: 'requests a second', y: 'ms', at, lines: quantiles}],
    `${model} on ${servers} ${servers === 1 ? 'server' : 'servers'}, open loop, ${seconds} s each`,
  )
}
