import type {FastifyInstance, FastifyRequest} from 'fastify'
import {saysOf} from '../audit/hooks.ts'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'
import {callerOf} from '../people/person.ts'
import type {Claimant} from './claims.ts'
import {readLimits, readQuotaName, readWish} from './wish.ts'

const SWEEP_MS = 60_000

/** Claims and quotas: who may have what, and whose turn it is. */
export function addClaims(
  app: FastifyInstance,
  parts: Pick<Parts, 'claims' | 'people'>,
  bodyOf: (request: FastifyRequest) => Promise<Record<string, unknown>>,
): void {
  const {claims} = parts
  app.post('/flexrack/v1/claims', async (request) => {
    const wish = readWish(await bodyOf(request))
    request.about = wish.run
    return claims.ask(wish, claimantOf(request, parts))
  })
  app.patch<{Params: {run: string}}>('/flexrack/v1/claims/:run', async ({params: {run}}) => {
    await claims.renew(run)
    return {}
  })
  app.delete<{Params: {run: string}}>('/flexrack/v1/claims/:run', async ({params: {run}}) => {
    await claims.release(run)
    return {}
  })
  app.get('/flexrack/v1/claims', async () => ({queue: await claims.queue()}))

  app.get('/flexrack/v1/quotas', async () => ({quotas: await claims.uses()}))
  app.put<{Params: {of: string}}>('/flexrack/v1/quotas/:of', async (request) => {
    const limits = readLimits(await bodyOf(request))
    const of = readQuotaName(request.params.of)
    request.about = `${of} ${JSON.stringify(limits)}`
    await claims.setQuota(of, limits)
    return {}
  })
  app.delete<{Params: {of: string}}>('/flexrack/v1/quotas/:of', async ({params: {of}}) => {
    if (!(await claims.setQuota(readQuotaName(of), undefined)))
      throw new Failure(404, 'NOT_FOUND', `there is no quota of ${of}`)
    return {}
  })
  const timer = setInterval(() => void claims.sweep().catch(() => {}), SWEEP_MS).unref()
  app.addHook('onClose', () => clearInterval(timer))
}

/** Who asks: the person whose token it is; with the admin's token who the command line says. Errors: 403. */
export function claimantOf(request: FastifyRequest, {people}: Pick<Parts, 'people'>): Claimant {
  const person = callerOf(request, people)
  if (!person) throw new Failure(403, 'REFUSED', 'nobody knows whose claim this is')
  const user = person.user ?? saysOf(request)?.split('@')[0] ?? 'unknown'
  return {user, teams: person.user === null ? people.teamsOf(user) : person.teams}
}

/** A run's own token, with what it has: both, or none. Errors: as tokens.issue, 409 QUOTA. */
export async function issueWithClaim(
  request: FastifyRequest,
  {claim, ...wanted}: Record<string, unknown>,
  parts: Pick<Parts, 'claims' | 'people' | 'tokens'>,
): Promise<{id: string; token: string; expires_at: number}> {
  let issued: {id: string; token: string; expires_at: number} | undefined
  const wish = readWish(claim as Record<string, unknown>)
  await parts.claims.bind(wish, claimantOf(request, parts), async () => (issued = await parts.tokens.issue(wanted)))
  return issued!
}
