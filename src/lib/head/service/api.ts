import {statfs} from 'node:fs/promises'
import type {FastifyInstance} from 'fastify'
import type {ServerStatus} from '../types.ts'
import {readObject, type BodyOf} from './limits/body.ts'
import {Failure} from './failure.ts'
import {addClaims, issueWithClaim} from './claims/routes.ts'
import {certify} from './tls/certify.ts'
import {addHoldings} from './holdings/routes.ts'
import {addEndpointApi} from './releases/api.ts'
import {addKeys} from './tokens/key-routes.ts'
import {personOf, takesAdmin} from './people/person.ts'
import {tryReach} from './gateway/reach.ts'
import {addSampleApi} from './sampling/api.ts'
import type {Parts} from './parts.ts'
import {ownerIn, requireForward, type Logins} from './tokens/browser-login.ts'
import {FOLLOW_MS} from './standby/followers.ts'
import {openIssuing} from './people/token-api.ts'
import {artifactsOf, publicStore, storeOf} from './tracking/mlflow-command.ts'

const LARGEST_BODY = 4 * 1024 * 1024
/**
 * Leads on to the start page, with the fragment. No redirect: the link may have been opened from another page (a file
 * that `head ui --open` wrote), and along redirects a browser keeps SameSite=Strict cookies back until a page of the
 * same site asks (RFC 6265bis, 5.2.1).
 */
const loggedIn = (path: string): string =>
  `<!doctype html><meta charset="utf-8"><title>flexrack</title><noscript><meta http-equiv="refresh" content="0;url=${path}"></noscript><script>location.replace("${path}" + location.hash)</script>\n`

/**
 * /flexrack/v1: status, tokens, locks, endpoint documents, login. Only the admin token comes this far, but for what
 * people/routes.ts opens to users, and the end of a run's own token.
 */
export function addApi(app: FastifyInstance, parts: Parts, logins: Logins): void {
  const {tokens, locks} = parts
  const bodyOf: BodyOf = (request) => readObject(request, LARGEST_BODY, parts.limits)
  app.get('/flexrack/v1/status', () => statusOf(parts))

  app.get('/flexrack/v1/tokens', () => ({tokens: tokens.personal()}))
  const issuing = openIssuing(parts)
  app.post('/flexrack/v1/tokens', async (request) => {
    const wanted = await issuing(request, await bodyOf(request))
    request.about = aboutToken(wanted)
    return issueWithClaim(request, wanted, parts)
  })
  app.delete('/flexrack/v1/tokens/self', async (request) => {
    if (request.caller && 'id' in request.caller) await tokens.revoke(request.caller.id)
    return {}
  })
  app.patch('/flexrack/v1/tokens/self', async (request) => {
    const {ttl_seconds: ttl} = await bodyOf(request)
    return request.caller && 'id' in request.caller ? tokens.shorten(request.caller.id, ttl) : {}
  })
  app.delete<{Params: {name: string}}>('/flexrack/v1/monitors/:name', async (request) => {
    await tokens.revokeMonitor(request.params.name)
    return {}
  })
  app.delete<{Params: {id: string}}>('/flexrack/v1/tokens/:id', async ({params: {id}}) => {
    const isFollowed = Object.hasOwn(tokens.forFollowers(), id)
    await tokens.revoke(id)
    return isFollowed ? {followed: await parts.followers.becomeCurrent(FOLLOW_MS)} : {}
  })

  app.get('/flexrack/v1/locks', () => ({locks: locks.list()}))
  app.put<{Params: {name: string}}>('/flexrack/v1/locks/:name', async (request) =>
    locks.put(request.params.name, await bodyOf(request)),
  )
  app.delete<{Params: {name: string}}>('/flexrack/v1/locks/:name', async (request) => {
    await locks.remove(request.params.name, (await bodyOf(request)).fence)
    return {}
  })

  app.post('/flexrack/v1/login-codes', async (request) => {
    const {opens, login} = await bodyOf(request)
    if (opens !== undefined && opens !== 'page' && opens !== 'look')
      throw new Failure(400, 'USAGE', 'a login opens "page" or "look", or else MLflow')
    if (login !== undefined && (typeof login !== 'string' || !logins.isAlive(login)))
      throw new Failure(404, 'NOT_FOUND', 'that login has ended')
    const by = ownerIn(request.caller)
    // There all projects are open.
    if (!opens && by && personOf(by, parts.people)?.role !== 'admin')
      throw takesAdmin("a look at MLflow's pages", by.user)
    return logins.issue({...(opens && {opens}), ...(login !== undefined && {login}), by})
  })
  app.put<{Params: {login: string}}>('/flexrack/v1/logins/:login', (request) => {
    logins.goesOn(request.params.login, ownerIn(request.caller))
    return {}
  })
  app.delete<{Params: {login: string}}>('/flexrack/v1/logins/:login', async (request) => {
    logins.requireOwn(request.params.login, ownerIn(request.caller))
    await logins.end(request.params.login)
    parts.ui.endLogin(request.params.login)
    return {}
  })
  app.get<{Querystring: {code?: string}}>('/flexrack/v1/login', async (request, reply) => {
    requireForward(request.raw.socket)
    const {cookie, opens} = await logins.trade(request.query.code ?? '', request.headers.host)
    return reply
      .header('set-cookie', cookie)
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .type('text/html; charset=utf-8')
      .send(loggedIn(opens ? '/flexrack/ui/' : '/'))
  })

  app.post('/flexrack/v1/reach', async (request) => tryReach(parts, await bodyOf(request)))
  app.post('/flexrack/v1/certificates', async (request) => certify(parts, await bodyOf(request)))

  addKeys(app, parts)
  addClaims(app, parts, bodyOf)
  addHoldings(app, parts, bodyOf)
  addEndpointApi(app, parts, bodyOf)
  addSampleApi(app, parts, bodyOf)
}

/** `run 4f2a`: what a token is for, of words that may be anything. */
function aboutToken({kind, run_id: run, endpoint, client, name, node, joint}: Record<string, unknown>): string {
  const words = [kind, run, endpoint, client, name, node, joint].filter((one) => typeof one === 'string')
  return words.map((one) => one.slice(0, 60)).join(' ')
}

async function statusOf(parts: Parts): Promise<ServerStatus> {
  const {config, tokens, endpoints, mlflow, followers, following, superseded, startedAt, url, port} = parts
  const disk = await statfs(config.folder)
  return {
    version: config.version,
    pid: process.pid,
    startedAt,
    uptimeSeconds: Math.round((Date.now() - startedAt) / 1000),
    url: url(),
    port: port(),
    mlflow: mlflow.status,
    store: publicStore(storeOf(config)),
    artifacts: publicStore(artifactsOf(config)),
    disk: {free: disk.bavail * disk.bsize, total: disk.blocks * disk.bsize},
    endpoints: endpoints.names().length,
    tokens: tokens.count,
    ...(following ? {following: following.status} : {followers: followers.list()}),
    ...(superseded.record && {superseded: superseded.record}),
  }
}
