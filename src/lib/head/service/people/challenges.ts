import {createHmac, randomBytes, timingSafeEqual} from 'node:crypto'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {isDeepStrictEqual} from 'node:util'
import {headFingerprint, LOGIN_NAMESPACE, loginText, signerOf} from '../../../base/index.ts'
import {Failure} from '../failure.ts'
import {atMost} from './at-once.ts'
import type {People} from './people.ts'

const CHALLENGE_MS = 120_000
const LONGEST_USER = 100
/** ssh-keygen is started for each: more wait at the door than one after another is worth. */
const MOST_AT_ONCE = 4
const LONGEST_SIGNATURE = 16_384

/**
 * Logins by proof of an SSH key: what is to be signed, once and soon, and whose signature it is. A challenge says itself for
 * whom and until when it is, under a seal of this head: nothing is kept of those that nobody answers, so that whoever asks
 * for many keeps nobody out.
 */
export class Challenges {
  readonly #secret = randomBytes(32)
  /** Those that somebody came in by, until they are too old anyway. */
  readonly #used = new Map<string, number>()
  readonly #oneOfFew = atMost(MOST_AT_ONCE)

  /** Whether there is such a user is not told. */
  issue(user: unknown): {nonce: string; expires_at: number} {
    if (typeof user !== 'string' || user.length > LONGEST_USER)
      throw new Failure(400, 'USAGE', 'a challenge is for a user')
    const expiresAt = Date.now() + CHALLENGE_MS
    const said = JSON.stringify([user, expiresAt, randomBytes(18).toString('base64url')])
    const open = Buffer.from(said).toString('base64url')
    return {nonce: `${open}.${this.#sealOf(open)}`, expires_at: expiresAt}
  }

  /**
   * The user whose key has signed a challenge of ours. `ca`: what the head is known by, which stands in what is signed: a
   * signature for another head is none for this one. Errors: 401.
   */
  async check({nonce, signature}: Record<string, unknown>, ca: string, people: People): Promise<string> {
    const found = typeof nonce === 'string' ? this.#read(nonce) : undefined
    const keys = found && people.user(found.user)?.keys
    const refused = new Failure(401, 'REFUSED', 'no key of this user has signed the challenge, or it is too old')
    if (
      !found ||
      found.expiresAt <= Date.now() ||
      typeof signature !== 'string' ||
      signature.length > LONGEST_SIGNATURE
    )
      throw refused
    if (!keys || keys.length === 0) throw refused
    return this.#oneOfFew(async () => {
      const text = loginText({user: found.user, nonce: nonce as string, head: headFingerprint(ca)})
      const signer = await verify(Buffer.from(signature, 'base64'), text, found.user, keys)
      if (signer !== found.user || !isDeepStrictEqual(people.user(found.user)?.keys, keys)) throw refused // removed meanwhile
      this.#use(nonce as string, found.expiresAt, refused)
      return found.user
    })
  }

  #sealOf(open: string): string {
    return createHmac('sha256', this.#secret).update(open).digest('base64url')
  }

  /** Of one that is ours, and was not used. */
  #read(nonce: string): {user: string; expiresAt: number} | undefined {
    const [open = '', seal = ''] = nonce.split('.')
    const [own, given] = [Buffer.from(this.#sealOf(open)), Buffer.from(seal)]
    if (own.length !== given.length || !timingSafeEqual(own, given) || this.#used.has(nonce)) return undefined
    const [user, expiresAt] = JSON.parse(Buffer.from(open, 'base64url').toString()) as [string, number]
    return {user, expiresAt}
  }

  #use(nonce: string, expiresAt: number, refused: Failure): void {
    const now = Date.now()
    for (const [one, until] of this.#used) if (until <= now) this.#used.delete(one)
    if (this.#used.has(nonce)) throw refused // by another one at the same time
    this.#used.set(nonce, expiresAt)
  }
}

async function verify(
  signature: Buffer,
  text: string,
  user: string,
  keys: readonly string[],
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-signers-'))
  try {
    const signers = join(folder, 'allowed_signers')
    await writeFile(signers, keys.map((key) => `${user} namespaces="${LOGIN_NAMESPACE}" ${key}\n`).join(''), {
      mode: 0o600,
    })
    return await signerOf(signature, Buffer.from(text), signers, LOGIN_NAMESPACE)
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}
