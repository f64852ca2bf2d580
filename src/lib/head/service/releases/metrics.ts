import type {Parts} from '../parts.ts'
import {metric} from '../prometheus.ts'
import type {Histogram} from './histogram.ts'
import {percentsOf} from './way.ts'

/** Ends of the buckets that Prometheus gets, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/**
 * What releases were asked and how fast they answered, for Prometheus. Bounded: of an endpoint as many releases as Measures
 * keeps.
 */
export function releaseMetrics({endpoints, measures, rollouts}: Parts): string {
  const all = endpoints.names().flatMap((name) => {
    const percents = percentsOf(name, endpoints.get(name), rollouts)
    return [...measures.of(name)].map(([release, measured]) => ({
      labels: `endpoint="${name}",${releaseLabel(release)}`,
      measured,
      percent: percents[release] ?? 0,
    }))
  })
  return [
    metric(
      'release_requests_total',
      'counter',
      'Requests of a release, by how they ended.',
      all.flatMap(({labels, measured}) =>
        Object.entries(measured.total.outcomes).map(([outcome, count]) => `{${labels},outcome="${outcome}"} ${count}`),
      ),
    ),
    metric(
      'release_in_flight',
      'gauge',
      'Requests under way at a release.',
      all.map(({labels, measured}) => `{${labels}} ${measured.underWay.size}`),
    ),
    metric(
      'release_percent',
      'gauge',
      'Percent of the requests that a release gets.',
      all.map(({labels, percent}) => `{${labels}} ${percent}`),
    ),
    metric(
      'release_seconds',
      'histogram',
      'Time until answers had ended, or their reader went away.',
      all.flatMap(({labels, measured}) => histogramLines(labels, measured.total.latencies)),
    ),
    metric(
      'release_tokens_total',
      'counter',
      "Tokens of OpenAI's API, where answers tell them.",
      all.flatMap(({labels, measured}) =>
        Object.entries(measured.tokens).map(([part, count]) => `{${labels},part="${part}"} ${count}`),
      ),
    ),
    metric(
      'release_first_token_seconds',
      'histogram',
      'Time until the first piece of a streamed answer.',
      all.flatMap(({labels, measured}) => (measured.first.total > 0 ? histogramLines(labels, measured.first) : [])),
    ),
    metric(
      'release_batch_rows',
      'histogram',
      'Rows of requests: the first dimension of their first tensor.',
      all.flatMap(({labels, measured}) => (measured.batches.requests > 0 ? measured.batches.lines(labels) : [])),
    ),
  ].join('')
}

/** A release is named by its owner: what the format has for itself is no part of it. */
export function releaseLabel(release: string): string {
  return `release="${release.replaceAll(/[\\"\n]/g, '_')}"`
}

/** Samples of a histogram in seconds. */
export function histogramLines(labels: string, latencies: Histogram): string[] {
  return [
    ...BUCKETS.map((end) => `_bucket{${labels},le="${end}"} ${latencies.within(end * 1000)}`),
    `_bucket{${labels},le="+Inf"} ${latencies.total}`,
    `_sum{${labels}} ${latencies.sum / 1000}`,
    `_count{${labels}} ${latencies.total}`,
  ]
}
