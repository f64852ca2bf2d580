import type {FastifyInstance} from 'fastify'
import {discovered, METRICS_PATH, SD_PATH} from '../monitor.ts'
import type {Parts} from '../parts.ts'
import {queueMetrics} from '../queue/metrics.ts'
import {releaseMetrics} from '../releases/metrics.ts'
import {scalingMetrics} from '../scaling/metrics.ts'
import {FOLLOW_MS} from '../standby/followers.ts'

/**
 * Keys of an endpoint's clients, below /flexrack/v1: who has one and what was done with it, its end, and metrics by
 * client and by release for Prometheus. They are made like other tokens (tokens.issue). Only the admin token comes this far.
 */
export function addKeys(app: FastifyInstance, parts: Parts): void {
  const {tokens, clients, endpoints, followers} = parts
  app.get<{Params: {name: string}}>('/flexrack/v1/endpoints/:name/keys', ({params: {name}}) => {
    endpoints.get(name)
    return {
      keys: tokens.keysOf(name).map(({limits, ...key}) => {
        const {inFlight, requests, refused, tokens} = clients.counts(name, key.client)
        return {
          ...key,
          requests_per_second: limits.requestsPerSecond ?? null,
          concurrency: limits.concurrency ?? null,
          tokens_per_minute: limits.tokensPerMinute ?? null,
          in_flight: inFlight,
          requests,
          refused,
          tokens,
        }
      }),
    }
  })
  app.delete<{Params: {name: string; client: string}}>(
    '/flexrack/v1/endpoints/:name/keys/:client',
    async ({params: {name, client}}) => {
      await tokens.revokeKey(name, client)
      clients.forget(name, client)
      return {followed: await followers.becomeCurrent(FOLLOW_MS)}
    },
  )
  app.get(SD_PATH, ({caller}) => discovered((caller && tokens.targetsOf(caller)) ?? [], Date.now()))
  app.get(METRICS_PATH, (_request, reply) =>
    reply
      .type('text/plain; version=0.0.4; charset=utf-8')
      .send(clients.metrics() + releaseMetrics(parts) + queueMetrics(parts) + scalingMetrics(parts)),
  )
}
