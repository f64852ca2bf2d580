import type {FastifyInstance} from 'fastify'
import type {BodyOf} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import {goneOf} from '../limits/incoming.ts'
import type {Parts} from '../parts.ts'
import type {RedactPath} from './redact.ts'

const MOST = 1000
const LONGEST_SECONDS = 30
const MOST_PATHS = 50

/**
 * POST /flexrack/v1/endpoints/<name>/sample {requests, seconds, redact: ['messages.*.content']}: the endpoint's traffic
 * from now on, until there are so many or the time is over. Admin token only.
 */
export function addSampleApi(app: FastifyInstance, {endpoints, samples}: Parts, bodyOf: BodyOf): void {
  app.post<{Params: {name: string}}>('/flexrack/v1/endpoints/:name/sample', async (request) => {
    const {name} = request.params
    endpoints.get(name)
    const wanted = await bodyOf(request)
    const most = numberOf(wanted.requests, 'requests', MOST)
    const ms = numberOf(wanted.seconds, 'seconds', LONGEST_SECONDS) * 1000
    const sampled = samples.collect(name, {most, ms, redact: pathsOf(wanted.redact)}, goneOf(request))
    if (!sampled) throw new Failure(429, 'REFUSED', 'too many take samples already; try again in a moment')
    return sampled
  })
}

function numberOf(value: unknown, name: string, most: number): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= most) return value
  throw new Failure(400, 'USAGE', `${name} must be a number above 0, at most ${most}`)
}

function pathsOf(value: unknown): RedactPath[] {
  const isPath = (one: unknown): one is string => typeof one === 'string' && one !== '' && one.length <= 1000
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > MOST_PATHS || !value.every(isPath))
    throw new Failure(400, 'USAGE', `redact must be at most ${MOST_PATHS} paths such as messages.*.content`)
  return value.map((path) => path.split('.'))
}
