import type {EndpointRecord} from '../documents/endpoints.ts'
import type {Parts} from '../parts.ts'
import {metric} from '../prometheus.ts'
import {histogramLines, releaseLabel} from '../releases/metrics.ts'

/** How many servers endpoints have and why, for Prometheus. Of each endpoint the release that serves now, and no other. */
export function scalingMetrics(parts: Pick<Parts, 'endpoints' | 'scaler' | 'health'>): string {
  const {endpoints, scaler} = parts
  const all = endpoints.names().map((name) => ({
    endpoint: `endpoint="${name}"`,
    ...serversOf(parts, name, endpoints.get(name).document),
    counts: scaler.counts(name),
  }))
  const gpus = scaler.gpus.of(endpoints.names()).map(({endpoint, node, index, ...use}) => ({
    gpu: `endpoint="${endpoint}",node="${node}",gpu="${index}"`,
    ...use,
  }))
  const scaled = all.flatMap(({endpoint, counts}) => (counts ? [{endpoint, counts}] : []))
  return [
    metric(
      'servers_wanted',
      'gauge',
      'Model servers that are to serve.',
      all.map(({endpoint, release, wanted}) => `{${endpoint},${release}} ${wanted}`),
    ),
    metric(
      'servers',
      'gauge',
      'Model servers by state; off and failed are places where one may be started.',
      all.flatMap(({endpoint, release, states}) =>
        Object.entries(states).map(([state, count]) => `{${endpoint},${release},state="${state}"} ${count}`),
      ),
    ),
    metric(
      'servers_ejected',
      'gauge',
      'Model servers that get nothing for a while, as they failed again and again.',
      all.map(({endpoint, release, ejected}) => `{${endpoint},${release}} ${ejected}`),
    ),
    metric(
      'scaling_decisions_total',
      'counter',
      'Times that the head chose another number of servers, by reason.',
      scaled.flatMap(({endpoint, counts}) =>
        Object.entries(counts.decisions).map(([reason, count]) => `{${endpoint},reason="${reason}"} ${count}`),
      ),
    ),
    metric(
      'scaling_failures_total',
      'counter',
      'Model servers that the head wanted and that could not be started.',
      scaled.map(({endpoint, counts}) => `{${endpoint}} ${counts.failures}`),
    ),
    metric(
      'wake_seconds',
      'histogram',
      'Time from a request that found no server running to one that is ready.',
      scaled.flatMap(({endpoint, counts}) => histogramLines(endpoint, counts.wakes)),
    ),
    metric(
      'gpu_busy_ratio',
      'gauge',
      'Part of a second in which a GPU computed, for whomever; of GPUs that servers of an endpoint have leased.',
      gpus.map(({gpu, busy}) => `{${gpu}} ${busy}`),
    ),
    metric(
      'gpu_memory_used_bytes',
      'gauge',
      'GPU memory that servers of an endpoint have allocated.',
      gpus.map(({gpu, used}) => `{${gpu}} ${used}`),
    ),
    metric(
      'gpu_memory_leased_bytes',
      'gauge',
      'GPU memory that they may allocate.',
      gpus.map(({gpu, memory}) => `{${gpu}} ${memory}`),
    ),
  ].join('')
}

interface Servers {
  release: string
  wanted: number
  states: Record<string, number>
  ejected: number
}

function serversOf(
  {scaler, health}: Pick<Parts, 'scaler' | 'health'>,
  name: string,
  {active}: EndpointRecord['document'],
): Servers {
  const {release = '', targets = [], scaling} = active ?? {}
  const known = scaling && scaler.figures(name)
  const states: Record<string, number> = known
    ? {off: 0, starting: 0, ready: 0, draining: 0, lost: 0, failed: 0}
    : {ready: 0, lost: 0}
  for (const {state} of known?.places ?? []) states[state] = (states[state] ?? 0) + 1
  // The others run because a command has started them: all that is known is whether they take connections.
  if (!known) for (const target of targets) states[health.isOpen(target) ? 'ready' : 'lost']!++
  const urls = scaling ? scaling.places.map(({url}) => url) : targets
  return {
    release: releaseLabel(release),
    wanted: known ? known.wanted : targets.length,
    states,
    ejected: urls.filter((url) => health.outliers.isOut(url)).length,
  }
}
