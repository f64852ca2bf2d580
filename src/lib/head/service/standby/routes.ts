import type {FastifyInstance, FastifyRequest} from 'fastify'
import {STANDBY_NAME} from '../../types.ts'
import {readObject} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'
import type {Caller} from '../tokens/token-kinds.ts'
import {takeSnapshot} from './snapshot.ts'
import {RESUMED_PATH, SUPERSEDED_PATH} from './superseded.ts'

const LARGEST_BODY = 1024 * 1024
/** A standby that has nothing to learn is answered after this long, and asks again: so it is known to live. */
const HOLD_MS = 1000

/** /flexrack/v1/follow: what a standby is told of its head. Its token opens this and nothing else. */
export function addFollow(app: FastifyInstance, parts: Parts): void {
  const {followers, authority} = parts
  app.post('/flexrack/v1/follow', async (request) => {
    const {id} = standbyOf(request)
    const {after, url, in_flight: inFlight, answered} = await readObject(request, LARGEST_BODY, parts.limits)
    const version = typeof after === 'string' ? after : null
    followers.heard(id, {
      after: version,
      url: isHeadUrl(url) ? url : null,
      inFlight: countsOf(inFlight),
      answered: countsOf(answered),
    })
    await followers.another(version, HOLD_MS)
    // Ended while it waited: what it learns now would be one thing too many.
    if (!parts.tokens.has(id)) throw new Failure(401, 'REFUSED', 'the token is wrong, revoked or expired')
    return version === followers.version ? {version} : {version: followers.version, state: takeSnapshot(parts)}
  })
  app.post('/flexrack/v1/follow/identity', async (request) => {
    const {names} = standbyOf(request)
    const [listener, gateway] = await Promise.all([
      authority.issueLeaf({name: 'flexrack standby', names: [STANDBY_NAME, ...names], usage: 'server'}),
      authority.issueLeaf({name: 'flexrack gateway', names: [], usage: 'client'}),
    ])
    return {listener, gateway, ca: authority.trusted}
  })
}

/** How a head steps down: told so by the standby that was made the head. It is the head again where the admin says so. */
export function addSuperseded(app: FastifyInstance, {superseded, tokens, limits}: Parts): void {
  app.post(SUPERSEDED_PATH, async (request) => {
    const {node} = standbyOf(request)
    const {url} = await readObject(request, LARGEST_BODY, limits)
    if (!isHeadUrl(url)) throw new Failure(400, 'USAGE', 'the head that takes over says where it answers')
    await superseded.by(node, url)
    return {}
  })
  app.delete(RESUMED_PATH, async () => {
    // Who took over comes back, maybe, and is not to do it once more.
    for (const {id} of tokens.standbys()) await tokens.revoke(id)
    await superseded.over()
    return {}
  })
}

function isHeadUrl(given: unknown): given is string {
  return typeof given === 'string' && /^https:\/\/[A-Za-z0-9.:[\]-]{1,260}$/.test(given)
}

function standbyOf({caller}: FastifyRequest): Caller & {kind: 'standby'} {
  if (caller?.kind === 'standby') return caller
  throw new Failure(403, 'REFUSED', 'a standby alone follows')
}

function countsOf(given: unknown): Record<string, number> {
  const pairs = typeof given === 'object' && given !== null ? Object.entries(given) : []
  return Object.fromEntries(pairs.filter(([, count]) => Number.isInteger(count) && Number(count) > 0))
}
