import type {FastifyRequest} from 'fastify'

const OPEN = new Set([
  'GET /flexrack/v1/status',
  'GET /flexrack/v1/whoami',
  'POST /flexrack/v1/tokens',
  'PATCH /flexrack/v1/tokens/self',
  'DELETE /flexrack/v1/tokens/self',
  'GET /flexrack/v1/claims',
  'POST /flexrack/v1/claims',
  'POST /flexrack/v1/claims/outlook',
  'PATCH /flexrack/v1/claims/:run',
  'DELETE /flexrack/v1/claims/:run',
  'GET /flexrack/v1/quotas',
])

/** Routes of ours that a user comes to who is no admin; what they may do there is decided behind them. */
export function isOpenToUsers({method, routeOptions: {url = ''}}: FastifyRequest): boolean {
  return OPEN.has(`${method} ${url}`) || url.startsWith('/flexrack/v1/people')
}
