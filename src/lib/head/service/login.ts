import {randomBytes} from 'node:crypto'
import {Failure} from './failure.ts'
import type {Caller, Tokens} from './tokens.ts'

const CODE_MS = 60_000
const SESSION_SECONDS = 12 * 3600
const COOKIE = 'flexrack_session'

/** One-time codes that a browser trades for a cookie: a token must not stand in a URL, where history and logs keep it. */
export class Logins {
  readonly #tokens: Tokens
  readonly #codes = new Map<string, number>()

  constructor(tokens: Tokens) {
    this.#tokens = tokens
  }

  /** A code that works once, within a minute. */
  issue(): {code: string; path: string; expires_at: number} {
    const now = Date.now()
    for (const [code, expiresAt] of this.#codes) if (expiresAt <= now) this.#codes.delete(code)
    const code = randomBytes(18).toString('base64url')
    this.#codes.set(code, now + CODE_MS)
    return {code, path: `/flexrack/v1/login?code=${code}`, expires_at: now + CODE_MS}
  }

  /** The Set-Cookie value for a code. */
  async trade(code: string): Promise<string> {
    const expiresAt = this.#codes.get(code)
    this.#codes.delete(code)
    if (expiresAt === undefined || expiresAt <= Date.now()) throw new Failure(403, 'REFUSED', 'this login link was used before or is too old: run flexrack head ui again')
    const {token} = await this.#tokens.issue({kind: 'session', ttl_seconds: SESSION_SECONDS})
    return `${COOKIE}=${token}; Path=/; Max-Age=${SESSION_SECONDS}; HttpOnly; SameSite=Strict`
  }

  /**
   * The session of a browser. Other pages must not act through it: where a browser names an origin it must be ours.
   */
  check(headers: {cookie?: string; origin?: string; host?: string}): Caller | undefined {
    const token = headers.cookie?.split(';').map((pair) => pair.trim()).find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1)
    const caller = token ? this.#tokens.check(token) : undefined
    if (caller?.kind !== 'session') return undefined
    if (headers.origin !== undefined && originHost(headers.origin) !== headers.host) throw new Failure(403, 'REFUSED', 'this request comes from another page')
    return caller
  }
}

function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
