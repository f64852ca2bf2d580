import type {FastifyInstance, FastifyRequest} from 'fastify'
import type {Parts} from '../parts.ts'
import type {Caller} from '../tokens/token-kinds.ts'
import {ChangePace} from './pace.ts'

/** What a request comes to, by its route: what changes something is noted. Renewals and questions are not. */
const CHANGES: Readonly<Record<string, string>> = {
  'POST /flexrack/v1/tokens': 'token.issue',
  'DELETE /flexrack/v1/tokens/:id': 'token.revoke',
  'DELETE /flexrack/v1/tokens/self': 'token.end',
  'DELETE /flexrack/v1/monitors/:name': 'monitor.revoke',
  'POST /flexrack/v1/login-codes': 'login.open',
  'DELETE /flexrack/v1/logins/:login': 'login.end',
  'POST /flexrack/v1/certificates': 'certificate.issue',
  'PUT /flexrack/v1/endpoints': 'endpoint.change',
  'PUT /flexrack/v1/endpoints/:name': 'endpoint.change',
  'DELETE /flexrack/v1/endpoints/:name': 'endpoint.remove',
  'DELETE /flexrack/v1/endpoints/:name/keys/:client': 'key.revoke',
  'POST /flexrack/v1/endpoints/:name/sample': 'endpoint.sample',
  'PUT /flexrack/v1/joint/:id': 'endpoint.promise',
  'POST /flexrack/v1/joint/:id/decision': 'endpoint.decide',
  'DELETE /flexrack/v1/agents/:node': 'agent.remove',
  'PUT /flexrack/v1/people/users/:name': 'user.set',
  'DELETE /flexrack/v1/people/users/:name': 'user.remove',
  'PUT /flexrack/v1/people/teams/:name': 'team.set',
  'DELETE /flexrack/v1/people/teams/:name': 'team.remove',
  'PUT /flexrack/v1/people/projects/:name': 'project.add',
  'DELETE /flexrack/v1/people/projects/:name': 'project.remove',
  'PUT /flexrack/v1/people/projects/:name/roles': 'project.grant',
  'POST /flexrack/v1/people/tokens': 'token.issue',
  'POST /flexrack/v1/people/record-token': 'token.issue',
  'DELETE /flexrack/v1/people/tokens/:id': 'token.revoke',
  'PUT /flexrack/v1/people/providers': 'identity.set',
  'DELETE /flexrack/v1/people/providers': 'identity.remove',
  'POST /flexrack/v1/people/login/ssh': 'login.user',
  'POST /flexrack/v1/people/login/oidc': 'login.user',
  'POST /flexrack/v1/people/login/ldap': 'login.user',
  'PUT /flexrack/v1/quotas/:of': 'quota.set',
  'DELETE /flexrack/v1/quotas/:of': 'quota.remove',
}
/** As many as tokens were made, at most; and who has somebody's token does not keep them from ending it. */
const ENDS = new Set(['token.revoke', 'token.end'])
/** Asked again and again; only what is refused is noted. */
const ASKED: Readonly<Record<string, string>> = {
  'POST /flexrack/v1/claims': 'claim',
  'POST /flexrack/v1/holdings': 'holding',
}

/** Everything that `/flexrack/v1` changes and refuses is in the log before it is answered. */
export function addAuditHooks(app: FastifyInstance, {audit}: Pick<Parts, 'audit'>): void {
  app.decorateRequest('about', undefined)
  app.decorateRequest('refusal', undefined)
  const pace = new ChangePace()
  app.addHook('preHandler', async (request) => {
    const {caller} = request
    const change = CHANGES[`${request.method} ${request.routeOptions.url}`]
    if (change !== undefined && !ENDS.has(change) && caller?.kind === 'user') pace.take(caller.user)
  })
  app.addHook('onSend', async (request, reply) => {
    const {statusCode} = reply
    const [who, says] = [whoOf(request.caller), saysOf(request)]
    const by = {who, ...(says !== undefined && {says})}
    const route = `${request.method} ${request.routeOptions.url}`
    const change = CHANGES[route]
    const asked = change ?? ASKED[route]
    const target = request.about ?? Object.values(request.params as Record<string, string>).join(' ')
    if (statusCode === 401 || statusCode === 403 || (asked && statusCode === 409)) {
      const action = asked ?? `${request.method} ${(request.routeOptions.url ?? '').slice(0, 100)}`
      await audit.refused({
        ...by,
        action,
        target: target.slice(0, 200),
        error: (request.refusal ?? `status ${statusCode}`).slice(0, 500),
      })
    } else if (change && statusCode < 400)
      await audit.note({...by, action: change, target: target.slice(0, 200), outcome: 'done'})
  })
}

/** Whose token it was. */
function whoOf(caller: Caller | undefined): string {
  if (!caller) return 'unknown'
  if (caller.kind === 'user') return `user ${caller.user}`
  if (caller.kind === 'run') return `run ${caller.runId}`
  if (caller.kind === 'node') return `node ${caller.node}`
  if (caller.kind === 'endpoint') return `client ${caller.client ?? caller.endpoint}`
  if (caller.kind === 'session') return `login ${caller.login}`
  return 'id' in caller ? `${caller.kind} ${caller.id}` : caller.kind
}

/** `name@machine` of who types, as the command line says. */
export function saysOf({headers}: FastifyRequest): string | undefined {
  const says = headers['x-flexrack-owner']
  return typeof says === 'string' && /^[\w.+-]{1,100}@[\w.-]{1,100}$/.test(says) ? says : undefined
}

/** The user of that: whose it is, where a token names nobody. */
export function saidUserOf(request: FastifyRequest): string {
  return saysOf(request)?.split('@')[0] ?? 'unknown'
}
