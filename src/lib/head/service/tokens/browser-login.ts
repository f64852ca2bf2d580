import {randomBytes} from 'node:crypto'
import type {Socket} from 'node:net'
import {isLoopback} from '../../../base/index.ts'
import {Failure} from '../failure.ts'
import type {Caller} from './token-kinds.ts'
import type {Tokens} from './tokens.ts'

const CODE_MS = 60_000
const SESSION_SECONDS = 12 * 3600
/** `head ui` says that it is there more often than this; when it is not any more, what it has let in is not either. */
const ALIVE_MS = 120_000
const COOKIE = 'flexrack_session'
const LOGIN = /^[\w-]{8,64}$/
/** That one user has at once: all of them are looked through each time. */
const MOST_OF_ONE = 50

/** What a login opens: the rack's page, the page without what changes something, or else MLflow's pages. */
export type Opens = 'page' | 'look' | undefined

/** Whose login it is: a user's by their token; undefined: whoever has the admin token. */
export type Owner = Extract<Caller, {kind: 'user'}> | undefined

export function ownerIn(caller: Caller | undefined): Owner {
  return caller?.kind === 'user' ? caller : undefined
}

interface Headers {
  cookie?: string | undefined
  origin?: string | undefined
  host?: string | undefined
}

/**
 * One-time codes that a browser trades for a cookie: a token must not stand in a URL, where history and logs keep it. A
 * cookie is good at the address where it was given (browsers send it to every port of a host), and as long as the `head
 * ui` that asked for the code goes on.
 */
export class Logins {
  readonly #tokens: Tokens
  readonly #codes = new Map<string, {login: string; opens: Opens; by: Owner; expiresAt: number}>()
  /** Until when each `head ui` counts as going on. Not kept over a restart of the head: who goes on says so again. */
  readonly #alive = new Map<string, {until: number; by: Owner}>()

  constructor(tokens: Tokens) {
    this.#tokens = tokens
  }

  /** A code that works once, within a minute, and the name of what was begun with it, or goes on. */
  issue({login = randomBytes(12).toString('base64url'), opens, by}: {login?: string; opens?: Opens; by?: Owner} = {}): {
    code: string
    path: string
    expires_at: number
    login: string
  } {
    const now = Date.now()
    for (const [code, {expiresAt}] of this.#codes) if (expiresAt <= now) this.#codes.delete(code)
    const code = randomBytes(18).toString('base64url')
    this.goesOn(login, by)
    this.#codes.set(code, {login, opens, by, expiresAt: now + CODE_MS})
    return {code, path: `/flexrack/v1/login?code=${code}`, expires_at: now + CODE_MS, login}
  }

  /** Errors: 403 where it is somebody else's, 429 where a user has too many. */
  goesOn(login: string, by?: Owner): void {
    if (!LOGIN.test(login)) throw new Failure(400, 'USAGE', `${login} cannot be the name of a login`)
    const now = Date.now()
    for (const [name, {until}] of this.#alive) if (until <= now) this.#alive.delete(name)
    this.requireOwn(login, by)
    const ofOne =
      by && !this.#alive.has(login) ? [...this.#alive.values()].filter((one) => one.by?.user === by.user) : []
    if (ofOne.length >= MOST_OF_ONE)
      throw new Failure(429, 'REFUSED', `${by!.user} has ${ofOne.length} pages open: end some`, {retry_after: 60})
    this.#alive.set(login, {until: now + ALIVE_MS, by})
  }

  /** Errors: 403 where it is somebody else's. */
  requireOwn(login: string, by: Owner): void {
    const known = this.#alive.get(login)
    if (known && known.by?.user !== by?.user) throw new Failure(403, 'REFUSED', "this login is somebody else's")
  }

  /** It ends with the token of the user whose it is, too. */
  isAlive(login: string): boolean {
    const known = this.#alive.get(login)
    return known !== undefined && known.until > Date.now() && (!known.by || this.#tokens.stillIs(known.by))
  }

  ownerOf(login: string): Owner {
    return this.#alive.get(login)?.by
  }

  /** Ends every session that came of it. */
  async end(login: string): Promise<void> {
    this.#alive.delete(login)
    for (const [code, one] of this.#codes) if (one.login === login) this.#codes.delete(code)
    await this.#tokens.revokeLogin(login)
  }

  /** The Set-Cookie value for a code, and what it opens. `host` as the browser named it. */
  async trade(code: string, host: string | undefined): Promise<{cookie: string; opens: Opens}> {
    const found = this.#codes.get(code)
    this.#codes.delete(code)
    if (!found || found.expiresAt <= Date.now() || host === undefined)
      throw new Failure(403, 'REFUSED', 'this login link was used before or is too old: run flexrack head ui again')
    const {login, opens, by} = found
    const user = by?.user
    const token = await this.#tokens.issueSession({
      login,
      host,
      ttlSeconds: SESSION_SECONDS,
      ...(opens && {opens}),
      ...(user !== undefined && {user}),
    })
    return {cookie: `${cookieAt(host)}=${token}; Path=/; HttpOnly; SameSite=Strict`, opens}
  }

  /**
   * The session of a browser. Other pages must not act through it: where a browser names an origin it must be ours.
   */
  check(headers: Headers): Caller | undefined {
    const {host, origin} = headers
    if (host === undefined) return undefined
    const name = `${cookieAt(host)}=`
    const token = headers.cookie
      ?.split(';')
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(name))
      ?.slice(name.length)
    const caller = token ? this.#tokens.check(token) : undefined
    if (caller?.kind !== 'session' || caller.host !== host || !this.isAlive(caller.login)) return undefined
    // After a restart of the head whoever goes on says so first: not in another's name.
    if (this.ownerOf(caller.login)?.user !== caller.user) return undefined
    if (origin !== undefined && originHost(origin) !== host)
      throw new Failure(403, 'REFUSED', 'this request comes from another page')
    return caller
  }
}

/**
 * A browser has one jar for all ports of a host: two heads, each behind a forward, must not take each other's cookie
 * away.
 */
function cookieAt(host: string): string {
  return `${COOKIE}_${/:(\d+)$/.exec(host)?.[1] ?? '80'}`
}

function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

/**
 * A link leads through a forward of SSH, which ends on the head's own machine. Whoever else is shown one (the head of
 * another rack, whose page led to it) does not come in by it from there. Errors: 403.
 */
export function requireForward({remoteAddress, localAddress}: Pick<Socket, 'remoteAddress' | 'localAddress'>): void {
  const [from, to] = [remoteAddress, localAddress].map((one) => one?.replace(/^::ffff:/i, ''))
  if (from !== to && !isLoopback(from ?? ''))
    throw new Failure(403, 'REFUSED', 'a login link is opened where flexrack head ui goes on, and through its forward')
}
