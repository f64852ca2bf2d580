import {hash, randomBytes, timingSafeEqual} from 'node:crypto'
import {join} from 'node:path'
import {HEAD_FILES} from '../../types.ts'
import {openAdminToken} from './admin-token.ts'
import {readDurable, Turns, writeDurably} from '../files/durable.ts'
import {Failure} from '../failure.ts'
import {logLine} from '../log.ts'
import type {HeadKeyLimits, HeadToken} from '../../../protocol/index.ts'
import {callerByToken, type Caller, type TokenRequest} from './token-kinds.ts'
import {LONGEST_TTL_SECONDS, readToken, secondsOf} from './token-request.ts'

interface TokenFile {
  tokens: Record<string, HeadToken>
}

/** A token that is used lives longer again after this time. Milliseconds. */
const PROLONG_MS = 24 * 3600 * 1000
/** So seldom it is written down when a token was used. Milliseconds. */
const USE_MS = 300_000

/** Bearer tokens `<kind>.<id>.<secret>`: hashed at rest, compared in constant time, gone when they expire. */
export class Tokens {
  readonly #file: string
  readonly #adminHash: Buffer
  readonly #kept: Map<string, HeadToken>
  /** Of which token a caller is. */
  readonly #of = new WeakMap<Caller, HeadToken>()
  readonly #turns = new Turns()
  #tellRevoked = (_id: string): void => {}
  #tellChanged = (): void => {}

  private constructor(file: string, adminHash: Buffer, kept: Map<string, HeadToken>) {
    this.#file = file
    this.#adminHash = adminHash
    this.#kept = kept
  }

  /**
   * Reads the tokens; makes the admin token on the first start. Throws where one is there that cannot be read, or is
   * none.
   */
  static async open(folder: string): Promise<Tokens> {
    const admin = await openAdminToken(join(folder, HEAD_FILES.adminToken))
    const file = join(folder, 'tokens.json')
    return new Tokens(
      file,
      digest(admin),
      new Map(Object.entries((await readDurable<TokenFile>('head.tokens', file, {tokens: {}})).tokens)),
    )
  }

  /** Of a standby: what its first head has is given to it (follow), and nothing of it is written. */
  static async following(folder: string): Promise<Tokens> {
    return new Tokens('', digest(await openAdminToken(join(folder, HEAD_FILES.adminToken))), new Map())
  }

  /** Keys and tokens of endpoints, as a standby is given them. */
  forFollowers(): Record<string, HeadToken> {
    const now = Date.now()
    return Object.fromEntries([...this.#kept].filter(([, one]) => one.kind === 'endpoint' && one.expiresAt > now))
  }

  /** Has these and no others from here on; what is under way with one that is gone ends. */
  follow(kept: Record<string, HeadToken>): void {
    const gone = [...this.#kept].filter(([id, one]) => kept[id]?.hash !== one.hash).map(([id]) => id)
    this.#kept.clear()
    for (const [id, one] of Object.entries(kept)) this.#kept.set(id, one)
    for (const id of gone) this.#tellRevoked(id)
  }

  get count(): number {
    const now = Date.now()
    return [...this.#kept.values()].filter((one) => one.kind !== 'session' && one.expiresAt > now).length
  }

  /** Told of every token that is revoked, once it opens nothing any more. */
  whenRevoked(tell: (id: string) => void): void {
    this.#tellRevoked = tell
  }

  /** Told when one was made or revoked. */
  whenChanged(tell: () => void): void {
    this.#tellChanged = tell
  }

  has(id: string): boolean {
    return (this.#kept.get(id)?.expiresAt ?? 0) > Date.now()
  }

  /** The keys of an endpoint's clients that have not ended, by client. */
  keysOf(
    endpoint: string,
  ): {id: string; client: string; limits: HeadKeyLimits; created_at: number; expires_at: number}[] {
    const found = [...this.#kept].flatMap(([id, {client, limits = {}, createdAt = 0, expiresAt, ...kept}]) =>
      kept.endpoint === endpoint && client !== undefined && expiresAt > Date.now()
        ? [{id, client, limits, created_at: createdAt, expires_at: expiresAt}]
        : [],
    )
    return found.toSorted((a, b) => a.client.localeCompare(b.client))
  }

  /** The tokens of standbys. */
  standbys(): {id: string; node: string; names: string[]}[] {
    return [...this.#kept].flatMap(([id, {kind, node = '', names = [], expiresAt}]) =>
      kind === 'standby' && expiresAt > Date.now() ? [{id, node, names}] : [],
    )
  }

  /** The tokens of runs. */
  runs(): {id: string; runId: string; project: string | undefined}[] {
    return [...this.#kept].flatMap(([id, {kind, runId, project}]) =>
      kind === 'run' && runId !== undefined ? [{id, runId, project}] : [],
    )
  }

  /** The personal tokens that have not ended, the newest first. */
  personal(): {id: string; name: string; created_at: number; expires_at: number}[] {
    const found = [...this.#kept].flatMap(([id, {kind, name = '', createdAt = 0, expiresAt}]) =>
      kind === 'personal' && expiresAt > Date.now() ? [{id, name, created_at: createdAt, expires_at: expiresAt}] : [],
    )
    return found.toSorted((a, b) => b.created_at - a.created_at)
  }

  /** Of users, or of one: the tokens that have not ended, the newest first. */
  ofUsers(user?: string): [id: string, kept: HeadToken][] {
    const now = Date.now()
    return [...this.#kept]
      .filter(([, one]) => one.kind === 'user' && one.expiresAt > now && (user === undefined || one.user === user))
      .toSorted(([, a], [, b]) => (b.createdAt ?? 0) - (a.createdAt ?? 0))
  }

  /** A user's token that has not ended. */
  ofUser(id: string): HeadToken | undefined {
    const kept = this.has(id) ? this.#kept.get(id) : undefined
    return kept?.kind === 'user' ? kept : undefined
  }

  /** The caller a token belongs to; undefined if it is wrong, revoked or expired. */
  check(token: string): Caller | undefined {
    if (token.startsWith('admin.')) return timingSafeEqual(digest(token), this.#adminHash) ? {kind: 'admin'} : undefined
    const [kind, id, secret, more] = token.split('.')
    const kept = id === undefined ? undefined : this.#kept.get(id)
    const same = timingSafeEqual(digest(secret ?? ''), Buffer.from(kept?.hash ?? '0'.repeat(64), 'hex'))
    if (!kept || !same || more !== undefined || kept.kind !== kind || kept.expiresAt <= Date.now()) return undefined
    const caller = callerByToken(id!, kept)
    this.#of.set(caller, kept)
    return caller
  }

  /** What a monitor was told to watch. */
  targetsOf(caller: Caller): HeadToken['targets'] {
    return this.#of.get(caller)?.targets
  }

  /** Whether what `check` gave still holds: the token was not revoked, has not ended, and is what it was. */
  stillIs(caller: Caller): boolean {
    if (caller.kind === 'admin') return true
    const kept = this.#of.get(caller)
    if (!kept || this.#kept.get(caller.id) !== kept || kept.expiresAt <= Date.now()) return false
    return caller.kind !== 'endpoint' || caller.expiresAt === kept.expiresAt
  }

  /** A new token; it is on disk when this resolves. */
  async issue(request: TokenRequest): Promise<{id: string; token: string; expires_at: number}> {
    const kept = readToken(request, (endpoint) => this.keysOf(endpoint).map((key) => key.client))
    // One agent a node, one monitor a name: a token of before is of one that is gone.
    if (kept.kind === 'node') await this.revokeNode(kept.node!)
    if (kept.kind === 'metrics') await this.revokeMonitor(kept.name!)
    return this.#add(kept)
  }

  /** A token of a user's own; on disk when this resolves. */
  issueUser(kept: Omit<HeadToken, 'kind' | 'hash'>): Promise<{id: string; token: string; expires_at: number}> {
    return this.#add({...kept, kind: 'user', hash: '', createdAt: Date.now()})
  }

  /** What a browser gets that came in by a login, at the address that it names. Gives the token. */
  async issueSession({
    ttlSeconds,
    ...session
  }: Required<Pick<HeadToken, 'login' | 'host'>> &
    Pick<HeadToken, 'opens' | 'user'> & {ttlSeconds: number}): Promise<string> {
    const {token} = await this.#add({kind: 'session', hash: '', expiresAt: Date.now() + ttlSeconds * 1000, ...session})
    return token
  }

  /** Ends the sessions of a login; on disk when this resolves. */
  async revokeLogin(login: string): Promise<void> {
    const ids = [...this.#kept].flatMap(([id, kept]) => (kept.kind === 'session' && kept.login === login ? [id] : []))
    for (const id of ids) this.#kept.delete(id)
    if (ids.length > 0) await this.#save()
  }

  /** Of an endpoint's client. */
  async revokeKey(endpoint: string, client: string): Promise<void> {
    const key = this.keysOf(endpoint).find((one) => one.client === client)
    if (!key) throw new Failure(404, 'NOT_FOUND', `${client} has no key for endpoint ${endpoint}`)
    await this.revoke(key.id)
  }

  /** Whatever opens an endpoint that is gone: one of the same name is another one. */
  revokeEndpoint(endpoint: string): Promise<void> {
    return this.#endAll((kept) => kept.endpoint === endpoint)
  }

  /** Of a node's agent. */
  revokeNode(node: string): Promise<void> {
    return this.#endAll((kept) => kept.kind === 'node' && kept.node === node)
  }

  /** Of a monitor. */
  revokeMonitor(name: string): Promise<void> {
    return this.#endAll((kept) => kept.kind === 'metrics' && kept.name === name)
  }

  /** Of a user who is gone. */
  revokeUser(user: string): Promise<void> {
    return this.#endAll((kept) => kept.user === user && (kept.kind === 'user' || kept.kind === 'run'))
  }

  /** With those that come of it. Errors: 404. */
  async revoke(id: string): Promise<void> {
    for (const [child, {parent}] of [...this.#kept]) if (parent === id) this.#end(child)
    if (!this.#end(id)) throw new Failure(404, 'NOT_FOUND', `no token ${id}`)
    // where that fails the caller hears of it, and until the head's next start the token opens nothing all the same
    await this.#save()
  }

  /**
   * Ends a token `ttl` seconds from now, unless it ends sooner; on disk when this resolves. Nobody makes one live
   * longer.
   */
  async shorten(id: string, ttl: unknown): Promise<{expires_at: number}> {
    const kept = this.#kept.get(id)
    if (!kept) throw new Failure(404, 'NOT_FOUND', `no token ${id}`)
    kept.expiresAt = Math.min(kept.expiresAt, Date.now() + secondsOf(ttl) * 1000)
    await this.#save() // as above
    return {expires_at: kept.expiresAt}
  }

  /** A user's token was used now. That is kept to some minutes: it is not worth a write a request. */
  noteUse(id: string): void {
    const kept = this.#kept.get(id)
    const now = Date.now()
    if (kept?.kind !== 'user' || now - (kept.lastUsedAt ?? 0) < USE_MS) return
    kept.lastUsedAt = now
    this.#save().catch((error: Error) => logLine(`the use of a token was not written down: ${error.message}`))
  }

  /** A node's token that is used lives on: nobody is there to bring another one. On disk when this resolves. */
  async useOf(id: string): Promise<void> {
    const kept = this.#kept.get(id)
    const longest = Date.now() + LONGEST_TTL_SECONDS * 1000
    if (kept?.kind !== 'node' || kept.expiresAt > longest - PROLONG_MS) return
    kept.expiresAt = longest
    await this.#save()
  }

  /** On disk when this resolves. */
  async #endAll(isMeant: (kept: HeadToken) => boolean): Promise<void> {
    const ids = [...this.#kept].flatMap(([id, kept]) => (isMeant(kept) ? [id] : []))
    for (const id of ids) this.#end(id)
    if (ids.length > 0) await this.#save()
  }

  #end(id: string): boolean {
    const isThere = this.#kept.delete(id)
    if (isThere) {
      this.#tellRevoked(id)
      this.#tellChanged()
    }
    return isThere
  }

  async #add(kept: HeadToken): Promise<{id: string; token: string; expires_at: number}> {
    const id = randomBytes(9).toString('base64url')
    const secret = randomBytes(32).toString('base64url')
    this.#kept.set(id, {...kept, hash: digest(secret).toString('hex')})
    await this.#save().catch((error: unknown) => {
      this.#kept.delete(id) // nobody was given it
      throw error
    })
    this.#tellChanged()
    return {id, token: `${kept.kind}.${id}.${secret}`, expires_at: kept.expiresAt}
  }

  #save(): Promise<void> {
    return this.#turns.take(() => {
      const now = Date.now()
      for (const [id, kept] of this.#kept) if (kept.expiresAt <= now) this.#kept.delete(id)
      return writeDurably('head.tokens', this.#file, {tokens: Object.fromEntries(this.#kept)} satisfies TokenFile)
    })
  }
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
