import type {FastifyRequest} from 'fastify'
import {Failure} from '../failure.ts'
import type {Following} from './following.ts'

/** A standby that may not serve endpoints any more says why. Throws. */
export function requireServing(following: Following): void {
  const {state} = following.status
  if (state === 'expired') {
    const message = `this standby has not heard of ${firstOf(following)}, for too long to go on serving`
    throw new Failure(503, 'HEAD_FAILED', message)
  }
  if (state === 'dismissed')
    throw new Failure(503, 'HEAD_FAILED', `this is not a standby any more of ${firstOf(following)}`)
}

/** What a standby is asked for besides endpoints, and has not, or does not do: said with the head that does. Throws. */
export function requireRoute(following: Following, request: FastifyRequest): void {
  const route = request.routeOptions.url ?? ''
  const first = firstOf(following)
  const isLook = request.method === 'GET' || request.method === 'HEAD'
  if (!route.startsWith('/flexrack/'))
    throw new Failure(503, 'HEAD_FAILED', `this is a standby, which serves endpoints only: tracking is at ${first}`)
  if (!isLook && route !== '/flexrack/v1/reach')
    throw new Failure(421, 'REFUSED', `a standby changes nothing: that is done at ${first}`)
}

function firstOf({status: {node, url}}: Following): string {
  return `the head of this rack, on ${node} (${url})`
}
