import type {FastifyRequest} from 'fastify'
import {Failure} from '../failure.ts'
import type {Following} from './following.ts'

/** What a standby is asked for and has not, or does not do: said with the head that does. Throws. */
export function requireServed(following: Following, request: FastifyRequest): void {
  const {node, url, state} = following.status
  const route = request.routeOptions.url ?? ''
  const first = `the head of this rack, on ${node} (${url})`
  if (route.startsWith('/endpoints/')) {
    if (state === 'expired')
      throw new Failure(503, 'HEAD_FAILED', `this standby has not heard of ${first}, for too long to go on serving`)
    if (state === 'dismissed') throw new Failure(503, 'HEAD_FAILED', `this is not a standby any more of ${first}`)
    return
  }
  const isLook = request.method === 'GET' || request.method === 'HEAD'
  if (!route.startsWith('/flexrack/'))
    throw new Failure(503, 'HEAD_FAILED', `this is a standby, which serves endpoints only: tracking is at ${first}`)
  if (!isLook && route !== '/flexrack/v1/reach')
    throw new Failure(421, 'REFUSED', `a standby changes nothing: that is done at ${first}`)
}
