import {isDeepStrictEqual} from 'node:util'
import type {FastifyInstance, FastifyRequest} from 'fastify'
import type {DeviceCode, LoginWays, MadeToken} from '../../types.ts'
import type {BodyOf} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import {originOf} from '../limits/origin.ts'
import type {Parts} from '../parts.ts'
import {atMost} from './at-once.ts'
import {Challenges} from './challenges.ts'
import {knowByLdap} from './ldap.ts'
import {DeviceFlows} from './oidc.ts'
import {userOf, type Known} from './provided.ts'
import {readProviders, type OidcSettings, type Providers} from './providers.ts'
import {makeToken} from './token-api.ts'

const LOGIN = '/flexrack/v1/people/login'
/** What is open to who has no token yet. */
export const LOGIN_PATHS: readonly string[] = ['ways', 'challenge', 'ssh', 'device', 'oidc', 'ldap'].map(
  (one) => `${LOGIN}/${one}`,
)
const WAIT_MS = 20_000
const SET_BY = 'an admin sets one with flexrack head identity FILE'
/** Passwords are tried by one after another, so that they are not guessed by the thousand. */
const MOST_TRIES = 5

/** Ways to a token for who has none. */
export function addLogins(app: FastifyInstance, parts: Parts, bodyOf: BodyOf): void {
  const {people, authority, config} = parts
  const challenges = new Challenges()
  let flows: {of: OidcSettings; all: DeviceFlows} | undefined
  const oneOfFew = atMost(MOST_TRIES)
  const providers = async (): Promise<Providers> => readProviders(config.folder)
  /** What was begun with a provider that is not the one in use any more lets nobody in. */
  const flowsNow = async (): Promise<DeviceFlows | undefined> => {
    const {oidc} = await providers()
    if (flows && isDeepStrictEqual(flows.of, oidc)) return flows.all
    flows?.all.endAll()
    flows = oidc && {of: oidc, all: new DeviceFlows(oidc)}
    return flows?.all
  }
  const letIn = async (request: FastifyRequest, known: Known, body: Record<string, unknown>): Promise<MadeToken> =>
    logIn(parts, request, await userOf(known, (await providers()).teams, people), body)

  app.get(`${LOGIN}/ways`, async (): Promise<LoginWays> => {
    const {oidc, ldap} = await providers()
    return {ssh: true, oidc: oidc?.issuer ?? null, ldap: ldap?.url ?? null}
  })
  app.post(`${LOGIN}/challenge`, async (request) => challenges.issue((await bodyOf(request)).user))
  app.post(`${LOGIN}/ssh`, async (request): Promise<MadeToken> => {
    const body = await bodyOf(request)
    return logIn(parts, request, await challenges.check(body, authority.trusted, people), body)
  })
  app.post(`${LOGIN}/device`, async (request): Promise<DeviceCode> => {
    const now = await flowsNow()
    if (!now) throw new Failure(404, 'NOT_FOUND', `this head has no identity provider: ${SET_BY}`)
    return now.begin(originOf(request.raw.socket.remoteAddress ?? ''))
  })
  app.post(`${LOGIN}/oidc`, async (request): Promise<MadeToken | {pending: true}> => {
    const body = await bodyOf(request)
    const now = await flowsNow()
    if (!now) throw new Failure(401, 'REFUSED', 'this login has ended: begin again')
    const known = await now.outcome(String(body.id), WAIT_MS)
    return known ? letIn(request, known, body) : {pending: true}
  })
  app.post(`${LOGIN}/ldap`, async (request): Promise<MadeToken> => {
    const {ldap} = await providers()
    if (!ldap) throw new Failure(404, 'NOT_FOUND', `this head has no directory: ${SET_BY}`)
    const {user, password, ...body} = await bodyOf(request)
    const known = await oneOfFew(() => knowByLdap(ldap, user, password))
    return letIn(request, known, body)
  })
}

/** The token of somebody who has proved who they are. */
function logIn(
  parts: Parts,
  request: FastifyRequest,
  user: string,
  {note, ttl_seconds: ttl}: Record<string, unknown>,
): Promise<MadeToken> {
  request.about = user
  return makeToken(parts, user, {note, ttl_seconds: ttl}, {isLogin: true})
}
