import type {TrafficCounts} from '../../types.ts'
import type {EndpointRecord} from '../documents/endpoints.ts'
import type {Parts} from '../parts.ts'
import {percentsOf} from './way.ts'

/** What went through the gateway to one endpoint since the head was started. Errors: 404. */
export function trafficCounts(parts: Parts, name: string): TrafficCounts {
  const {endpoints, measures, rollouts, clients, queues} = parts
  const record = endpoints.get(name)
  const percents = percentsOf(name, record, rollouts)
  const {urls, inFlight, served} = serversOf(parts, record)
  return {
    name,
    queued: queues.demand(name).queued,
    waited: queues.figures(name).waited.counts(),
    releases: [...measures.of(name)].map(([release, {total, underWay, tokens, first, batches}]) => {
      const {failed, refused, abandoned} = total.outcomes
      return {
        release,
        percent: percents[release] ?? 0,
        in_flight: underWay.size,
        requests: total.requests,
        ...{failed, refused, abandoned},
        tokens: {...tokens},
        latencies: total.latencies.counts(),
        first: first.counts(),
        batches: {requests: batches.requests, rows: batches.rows},
      }
    }),
    clients: clients.traffic(name),
    servers: urls.map((url) => ({url, in_flight: inFlight[url] ?? 0, served: served[url] ?? 0})),
  }
}

/** All servers of an endpoint, those of its canary last: what each has under way, at the standby too, and has answered. */
export function serversOf(
  {traffic, followers}: Pick<Parts, 'traffic' | 'followers'>,
  {document: {active, canary}}: EndpointRecord,
): {urls: string[]; inFlight: Record<string, number>; served: Record<string, number>} {
  const places = active?.scaling?.places.map(({url}) => url)
  const urls = [...(places ?? active?.targets ?? []), ...(canary?.targets ?? [])]
  const {in_flight: own, served} = traffic.counts(urls)
  return {urls, inFlight: followers.withInFlight(own), served}
}
