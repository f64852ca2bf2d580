import {randomBytes} from 'node:crypto'
import type {DeviceCode} from '../../types.ts'
import {Failure} from '../failure.ts'
import {claimsOf, deviceCodeOf, discover, reasonOf} from './oidc-client.ts'
import type {OidcSettings} from './providers.ts'
import type {Known} from './provided.ts'

const MOST = 100
/** So many the provider is asked for at once. */
const MOST_BEGINNING = 20
const MOST_OF_ORIGIN = 10
const LONGEST_MS = 900_000

interface Flow {
  /** Who began it: an address, or a network. */
  origin: string
  expiresAt: number
  /** Undefined: not decided yet. */
  outcome: Promise<Known | Failure>
  abort: AbortController
}

/**
 * Logins by OpenID Connect's device flow (RFC 8628). The head is the client: the device code and the provider's tokens never
 * leave it, and ID tokens are checked with the provider's keys, although they come from it directly.
 */
export class DeviceFlows {
  readonly #settings: OidcSettings
  readonly #most: number
  readonly #flows = new Map<string, Flow>()
  /** Whose the provider is being asked for, by origin. */
  readonly #beginning: string[] = []

  /** `most`: that are under way at once. */
  constructor(settings: OidcSettings, most = MOST) {
    this.#settings = settings
    this.#most = most
  }

  /**
   * Nobody is kept out by those who begin and do not go on: where too many are under way, the oldest of the origin that has
   * the most ends. Errors: 429 where the provider is being asked for many, 502 where it does not answer as it should.
   */
  async begin(origin: string): Promise<DeviceCode> {
    const now = Date.now()
    for (const [id, {expiresAt}] of this.#flows) if (expiresAt <= now) this.end(id)
    const own = this.#beginning.filter((one) => one === origin).length
    if (this.#beginning.length >= Math.min(MOST_BEGINNING, this.#most) || own >= MOST_OF_ORIGIN)
      throw new Failure(429, 'REFUSED', 'too many logins begin just now', {retry_after: 5})
    const {issuer, name_claim: nameClaim, groups_claim: groupsClaim} = this.#settings
    this.#beginning.push(origin)
    try {
      const [oidc, config] = await Promise.all([import('openid-client'), discover(this.#settings)])
      const given = await deviceCodeOf(config, this.#settings)
      const abort = new AbortController()
      const lifetime = Math.min(given.expires_in * 1000, LONGEST_MS)
      const timer = setTimeout(() => abort.abort(), lifetime)
      const outcome = oidc
        .pollDeviceAuthorizationGrant(config, given, undefined, {signal: abort.signal})
        .then(async (tokens) => this.#knownOf(await claimsOf(config, tokens, [nameClaim, groupsClaim])))
        .catch((error: Error & {error?: string}) => refusalOf(error))
        .finally(() => clearTimeout(timer))
      const id = randomBytes(24).toString('base64url')
      while (this.#flows.size >= this.#most) this.end(this.#oldestOfMost())
      this.#flows.set(id, {origin, expiresAt: now + lifetime, outcome, abort})
      const {user_code, verification_uri, verification_uri_complete} = given
      return {
        id,
        user_code,
        verification_uri,
        verification_uri_complete: verification_uri_complete ?? null,
        expiresAt: now + lifetime,
      }
    } catch (error) {
      if (error instanceof Failure) throw error
      throw new Failure(
        502,
        'HEAD_FAILED',
        `the identity provider ${issuer} does not answer as it should: ${reasonOf(error)}`,
      )
    } finally {
      this.#beginning.splice(this.#beginning.indexOf(origin), 1)
    }
  }

  /** Who it was, once the provider has said so; undefined: not within this time. Errors: 401. */
  async outcome(id: string, waitMs: number): Promise<Known | undefined> {
    const flow = this.#flows.get(id)
    if (!flow) throw new Failure(401, 'REFUSED', 'this login has ended: begin again')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), waitMs)))
    const found = await Promise.race([flow.outcome, late]).finally(() => clearTimeout(timer))
    if (found === undefined) return undefined
    if (!this.#flows.delete(id)) throw new Failure(401, 'REFUSED', 'this login was used already')
    if (found instanceof Failure) throw found
    return found
  }

  endAll(): void {
    for (const id of this.#flows.keys()) this.end(id)
  }

  end(id: string): void {
    this.#flows.get(id)?.abort.abort()
    this.#flows.delete(id)
  }

  #oldestOfMost(): string {
    const byOrigin = Map.groupBy(this.#flows, ([, one]) => one.origin)
    const [most] = [...byOrigin.values()].toSorted((a, b) => b.length - a.length)
    return most![0]![0]
  }

  #knownOf(claims: Record<string, unknown>): Known | Failure {
    const {name_claim: nameClaim, groups_claim: groupsClaim} = this.#settings
    const {iss, sub} = claims
    if (typeof iss !== 'string' || typeof sub !== 'string')
      return new Failure(401, 'REFUSED', 'the provider names nobody')
    // None was sent: this one answers another login.
    if (claims.nonce !== undefined)
      return new Failure(
        401,
        'REFUSED',
        "the identity provider's answer does not count: it has a nonce that is not ours",
      )
    const called = [claims[nameClaim], claims.email, sub].find((one) => typeof one === 'string' && one !== '')
    const groups = claims[groupsClaim]
    return {
      source: 'oidc',
      subject: `${iss}|${sub}`,
      name: called as string,
      groups: Array.isArray(groups) ? groups.filter((one) => typeof one === 'string') : [],
    }
  }
}

function refusalOf(refused: Error & {error?: string}): Failure {
  const {error} = refused
  if (error === 'access_denied') return new Failure(401, 'REFUSED', 'the login was denied at the identity provider')
  if (error === 'expired_token') return new Failure(401, 'REFUSED', 'the code was not entered in time')
  return new Failure(401, 'REFUSED', `the identity provider's answer does not count: ${reasonOf(refused)}`)
}
