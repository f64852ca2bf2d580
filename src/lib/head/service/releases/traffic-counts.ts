import type {TrafficCounts} from '../../types.ts'
import type {Parts} from '../parts.ts'
import {percentsOf} from './way.ts'

/** What went through the gateway to one endpoint since the head was started. Errors: 404. */
export function trafficCounts(parts: Parts, name: string): TrafficCounts {
  const {endpoints, measures, rollouts, clients, queues, traffic, followers} = parts
  const record = endpoints.get(name)
  const {active, canary} = record.document
  const percents = percentsOf(name, record, rollouts)
  const places = active?.scaling?.places.map(({url}) => url)
  const urls = [...(places ?? active?.targets ?? []), ...(canary?.targets ?? [])]
  const {in_flight: own, served} = traffic.counts(urls)
  const inFlight = followers.withInFlight(own)
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
