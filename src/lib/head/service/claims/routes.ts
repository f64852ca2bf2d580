import {isAbsolute} from 'node:path'
import type {FastifyInstance, FastifyRequest} from 'fastify'
import {ChangePace} from '../audit/pace.ts'
import type {BodyOf} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'
import {artifactsOf} from '../tracking/mlflow-command.ts'
import {claimantOf} from './claimant.ts'
import {readLimits, readOutlook, readQuotaName, readWish, readWord} from './wish.ts'

const SWEEP_MS = 60_000

/** Claims and quotas: who may have what, and whose turn it is. */
export function addClaims(
  app: FastifyInstance,
  parts: Pick<Parts, 'claims' | 'quotas' | 'people' | 'audit' | 'config'>,
  bodyOf: BodyOf,
): void {
  const {claims, quotas} = parts
  app.post('/flexrack/v1/claims', async (request) => {
    const wish = readWish(await bodyOf(request))
    request.about = wish.run
    return claims.ask(wish, claimantOf(request, parts, wish))
  })
  app.patch<{Params: {run: string}}>('/flexrack/v1/claims/:run', async (request) => {
    await claims.renew(request.params.run, userOf(request))
    return {}
  })
  app.delete<{Params: {run: string}}>('/flexrack/v1/claims/:run', async (request) => {
    await claims.release(request.params.run, userOf(request))
    return {}
  })
  app.get('/flexrack/v1/claims', async () => ({queue: await claims.queue()}))
  app.post('/flexrack/v1/claims/self', async (request) => {
    const word = readWord(await bodyOf(request))
    return claims.say(request.caller?.kind === 'run' ? request.caller.id : '', word)
  })
  app.post('/flexrack/v1/claims/outlook', async (request) => {
    const wish = readOutlook(await bodyOf(request))
    return claims.outlook(wish, claimantOf(request, parts, wish))
  })
  const pace = new ChangePace()
  const note = (entry: {action: string; target: string; outcome?: string; error?: string}): void =>
    void parts.audit.note({who: 'head', ...entry}).catch(() => {})
  claims.whenNews({
    room(runs, preemptor, user) {
      pace.take(user, Date.now(), runs.length)
      for (const run of runs)
        note({action: 'run.preempt', target: `${run} for ${preemptor}`.slice(0, 200), outcome: 'done'})
    },
    differs: (run, why) => note({action: 'claim.differs', target: run.slice(0, 200), error: why.slice(0, 500)}),
  })

  app.get('/flexrack/v1/quotas', async () => ({
    quotas: await claims.uses(),
    artifacts_elsewhere: !isAbsolute(artifactsOf(parts.config)),
  }))
  app.put<{Params: {of: string}}>('/flexrack/v1/quotas/:of', async (request) => {
    const limits = readLimits(await bodyOf(request))
    const of = readQuotaName(request.params.of)
    request.about = `${of} ${JSON.stringify(limits)}`
    await quotas.set(of, limits)
    return {}
  })
  app.delete<{Params: {of: string}}>('/flexrack/v1/quotas/:of', async ({params: {of}}) => {
    if (!(await quotas.set(readQuotaName(of), undefined)))
      throw new Failure(404, 'NOT_FOUND', `there is no quota of ${of}`)
    return {}
  })
  const timer = setInterval(() => void claims.sweep().catch(() => {}), SWEEP_MS).unref()
  app.addHook('onClose', () => clearInterval(timer))
}

/** Undefined: whoever has the admin token, and may end anybody's. */
function userOf({caller}: FastifyRequest): string | undefined {
  return caller?.kind === 'user' ? caller.user : undefined
}

/** A token; a run's own comes with what the run has: both, or none. Errors: as tokens.issue, 409 QUOTA. */
export async function issueWithClaim(
  request: FastifyRequest,
  {claim, ...wanted}: Record<string, unknown>,
  parts: Pick<Parts, 'claims' | 'quotas' | 'people' | 'tokens'>,
): Promise<{id: string; token: string; expires_at: number}> {
  let issued: {id: string; token: string; expires_at: number} | undefined
  if (claim === undefined) {
    if (request.caller?.kind === 'user' && wanted.kind === 'run' && parts.quotas.isLimited)
      throw new Failure(
        409,
        'QUOTA',
        'a run of a user counts for the quotas of this rack, and this one does not say what it has',
      )
    return parts.tokens.issue(wanted)
  }
  const wish = readWish((claim ?? {}) as Record<string, unknown>)
  if (request.caller?.kind === 'user' && wanted.project !== undefined && wanted.project !== wish.project)
    throw new Failure(403, 'REFUSED', `what a run in project ${String(wanted.project)} has counts there`)
  await parts.claims.bind(
    wish,
    claimantOf(request, parts, wish),
    async () => (issued = await parts.tokens.issue(wanted)),
  )
  return issued!
}
