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
  'POST /flexrack/v1/holdings',
  'POST /flexrack/v1/holdings/kept',
  'POST /flexrack/v1/holdings/outlook',
  'POST /flexrack/v1/holdings/release',
  'GET /flexrack/v1/quotas',
  // What is served and how it does: calls need a key of their own, changes an admin.
  'GET /flexrack/v1/endpoints',
  'GET /flexrack/v1/endpoints/:name',
  'GET /flexrack/v1/traffic',
  // The page, which shows what they may see (page/seen.ts).
  'POST /flexrack/v1/login-codes',
  'PUT /flexrack/v1/logins/:login',
  'DELETE /flexrack/v1/logins/:login',
  'POST /flexrack/v1/logins/:login/questions',
  'POST /flexrack/v1/logins/:login/answers',
])

/** Routes of ours that a user comes to who is no admin; what they may do there is decided behind them. */
export function isOpenToUsers({method, routeOptions: {url = ''}}: FastifyRequest): boolean {
  return OPEN.has(`${method} ${url}`) || url.startsWith('/flexrack/v1/people')
}
