import type {Parts} from '../parts.ts'
import type {Measured} from './measures.ts'
import {percentsOf} from './way.ts'

/** Ends of the buckets that Prometheus gets, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/**
 * What releases were asked and how fast they answered, in the text format of Prometheus
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). Bounded: of an endpoint as many releases as Measures
 * keeps.
 */
export function releaseMetrics({endpoints, measures, rollouts}: Parts): string {
  const all = endpoints.names().flatMap((name) => {
    const percents = percentsOf(name, endpoints.get(name), rollouts)
    return [...measures.of(name)].map(([release, measured]) => ({
      labels: `endpoint="${name}",release="${release.replaceAll(/[\\"\n]/g, '_')}"`,
      measured,
      percent: percents[release] ?? 0,
    }))
  })
  const series = (
    name: string,
    kind: string,
    help: string,
    lines: (one: (typeof all)[number]) => string[],
  ): string[] => [
    `# HELP flexrack_gateway_${name} ${help}`,
    `# TYPE flexrack_gateway_${name} ${kind}`,
    ...all.flatMap((one) => lines(one).map((line) => `flexrack_gateway_${name}${line}`)),
  ]
  return [
    ...series('release_requests_total', 'counter', 'Requests of a release, by how they ended.', (one) =>
      Object.entries(one.measured.total.outcomes).map(
        ([outcome, count]) => `{${one.labels},outcome="${outcome}"} ${count}`,
      ),
    ),
    ...series('release_in_flight', 'gauge', 'Requests under way at a release.', (one) => [
      `{${one.labels}} ${one.measured.underWay.size}`,
    ]),
    ...series('release_percent', 'gauge', 'Percent of the requests that a release gets.', (one) => [
      `{${one.labels}} ${one.percent}`,
    ]),
    ...series('release_seconds', 'histogram', 'Time until answers had ended, or their reader went away.', (one) =>
      histogramLines(one.labels, one.measured),
    ),
    '',
  ].join('\n')
}

function histogramLines(labels: string, {total: {latencies}}: Measured): string[] {
  return [
    ...BUCKETS.map((end) => `_bucket{${labels},le="${end}"} ${latencies.within(end * 1000)}`),
    `_bucket{${labels},le="+Inf"} ${latencies.total}`,
    `_sum{${labels}} ${latencies.sum / 1000}`,
    `_count{${labels}} ${latencies.total}`,
  ]
}
