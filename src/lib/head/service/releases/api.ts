import type {FastifyInstance, FastifyRequest} from 'fastify'
import type {BodyOf} from '../limits/body.ts'
import type {Parts} from '../parts.ts'
import {countEndpoints, endpointHolding} from '../holdings/endpoints.ts'
import {personOf} from '../people/person.ts'
import {queueFigures} from '../queue/metrics.ts'
import {serversOf, trafficCounts} from './traffic-counts.ts'

type Named = {Params: {name: string}}

/** /flexrack/v1/endpoints: documents, and what the gateway does with them now. Users read, admins change. */
export function addEndpointApi(app: FastifyInstance, parts: Parts, bodyOf: BodyOf): void {
  const {endpoints, measures, rollouts, shadows, tokens, clients, queues, scaler} = parts
  const describe = (name: string, {caller}: FastifyRequest): object => {
    const described = describeEndpoint(parts, name)
    return personOf(caller, parts.people)?.role === 'admin' ? described : withoutSecrets(described)
  }
  app.get('/flexrack/v1/endpoints', (request) => ({endpoints: endpoints.names().map((one) => describe(one, request))}))
  app.put('/flexrack/v1/endpoints', async (request) => {
    const {changes} = await bodyOf(request)
    const named = (Array.isArray(changes) ? changes : []).filter(
      (one): one is {name: string; document: unknown} => typeof one === 'object' && one !== null,
    ) // what else is among them is refused by putTogether
    const records = await countEndpoints(request, parts, named, () => endpoints.putTogether(changes))
    for (const {name} of named) {
      scaler.follow(name)
      await rollouts.forget(name)
    }
    return {revisions: records.map(({revision}) => revision)}
  })
  // By one clock, the head's: who asks twice divides by the time in between.
  app.get('/flexrack/v1/traffic', () => ({
    at: performance.timeOrigin + performance.now(),
    since: performance.timeOrigin,
    endpoints: endpoints.names().map((name) => trafficCounts(parts, name)),
  }))
  app.get<Named>('/flexrack/v1/endpoints/:name', (request) => describe(request.params.name, request))
  app.put<Named>('/flexrack/v1/endpoints/:name', async (request) => {
    const {name} = request.params
    const before = endpoints.find(name)?.document.canary
    const body = await bodyOf(request)
    const {document} = body
    const record = await countEndpoints(request, parts, [{name, document}], () => endpoints.put(name, body))
    scaler.follow(name)
    const {canary} = record.document
    if (!canary) await rollouts.forget(name)
    // Both releases are compared over the same traffic: from here on.
    else if (canary.since !== before?.since) measures.newWindow(name)
    return record
  })
  app.delete<Named>('/flexrack/v1/endpoints/:name', async ({params: {name}}) => {
    await parts.holdings.release([endpointHolding(name)], () => endpoints.remove(name))
    scaler.follow(name)
    await tokens.revokeEndpoint(name)
    clients.forget(name)
    await rollouts.forget(name)
    measures.forget(name)
    shadows.forget(name)
    queues.forget(name)
    return {}
  })
}

/** An endpoint's document, and what the gateway does with it now. Errors: 404. */
export function describeEndpoint(parts: Parts, name: string): object {
  const {endpoints, measures, rollouts, shadows, scaler, followers} = parts
  const record = endpoints.get(name)
  const {canary} = record.document
  const {urls, inFlight, served} = serversOf(parts, record)
  return {
    name,
    ...record,
    in_flight: inFlight,
    served,
    followed: followers.areCurrent,
    promised: endpoints.promisedTo(name) ?? null,
    rollout: canary ? rollouts.of(name, canary) : null,
    figures: measures.figures(name),
    scaling: scaler.figures(name) ?? null,
    queue: queueFigures(parts, name, urls),
    shadow: canary?.shadow ? (shadows.figures(name, canary.since) ?? null) : null,
  }
}

/** As users see it: the environment of a project's own server (`workspace.env`) may hold keys, and its names are enough. Pure. */
export function withoutSecrets(described: object): object {
  const hidden = (value: unknown, name = ''): unknown => {
    if (Array.isArray(value)) return value.map((one) => hidden(one))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    if (name === 'env') return Object.fromEntries(entries.map(([key]) => [key, '***']))
    return Object.fromEntries(entries.map(([key, one]) => [key, hidden(one, key)]))
  }
  return hidden(described) as object
}
