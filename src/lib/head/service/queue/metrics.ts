import type {QueueFigures} from '../../types.ts'
import type {Parts} from '../parts.ts'
import {metric} from '../prometheus.ts'
import {histogramLines} from '../releases/metrics.ts'
import {rulesOf} from './settings.ts'

/** Of one endpoint, as the command line shows it. */
export function queueFigures(
  {queues, health, endpoints}: Pick<Parts, 'queues' | 'health' | 'endpoints'>,
  endpoint: string,
  targets: string[],
): QueueFigures {
  const {waited, refused, retries} = queues.figures(endpoint)
  const {requests, concurrency} = rulesOf(endpoints.find(endpoint))
  return {
    ...queues.demand(endpoint),
    most: requests,
    concurrency,
    waited: waited.total,
    p50: waited.quantile(0.5),
    p99: waited.quantile(0.99),
    full: refused.full,
    expired: refused.age,
    late: refused.deadline,
    retries,
    ejected: targets.filter((target) => health.outliers.isOut(target)),
    down: targets.filter((target) => !health.isOpen(target)),
  }
}

/** Of all endpoints, for Prometheus. */
export function queueMetrics({queues, health, endpoints}: Parts): string {
  const all = endpoints.names().map((name) => ({
    labels: `endpoint="${name}"`,
    queued: queues.demand(name).queued,
    figures: queues.figures(name),
  }))
  return [
    metric(
      'queue_depth',
      'gauge',
      'Requests that wait for a server.',
      all.map(({labels, queued}) => `{${labels}} ${queued}`),
    ),
    metric(
      'queue_seconds',
      'histogram',
      'Time that requests waited before they were sent, of those that waited.',
      all.flatMap(({labels, figures}) => histogramLines(labels, figures.waited)),
    ),
    metric(
      'queue_refused_total',
      'counter',
      'Requests that were not sent: the queue full, too old, or after the deadline of their caller.',
      all.flatMap(({labels, figures}) =>
        Object.entries(figures.refused).map(([reason, count]) => `{${labels},reason="${reason}"} ${count}`),
      ),
    ),
    metric(
      'retries_total',
      'counter',
      'Requests that were sent once more after their connection broke.',
      all.map(({labels, figures}) => `{${labels}} ${figures.retries}`),
    ),
    metric('ejections_total', 'counter', 'Servers that were taken out for a while, as they failed again and again.', [
      ` ${health.outliers.ejections}`,
    ]),
  ].join('')
}
