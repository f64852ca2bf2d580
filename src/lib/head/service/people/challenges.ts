import {randomBytes} from 'node:crypto'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {headFingerprint, LOGIN_NAMESPACE, loginText, signerOf} from '../../../base/index.ts'
import {Failure} from '../failure.ts'
import type {People} from './people.ts'

const CHALLENGE_MS = 120_000
const MOST = 1000
/** ssh-keygen is started for each: more wait at the door than one after another is worth. */
const MOST_AT_ONCE = 4
const LONGEST_SIGNATURE = 16_384

/** Logins by proof of an SSH key: what is to be signed, once and soon, and whose signature it is. */
export class Challenges {
  readonly #open = new Map<string, {user: string; expiresAt: number}>()
  #checking = 0

  /** Whether there is such a user is not told. */
  issue(user: unknown): {nonce: string; expires_at: number} {
    if (typeof user !== 'string' || user.length > 100) throw new Failure(400, 'USAGE', 'a challenge is for a user')
    const now = Date.now()
    for (const [nonce, {expiresAt}] of this.#open) if (expiresAt <= now) this.#open.delete(nonce)
    if (this.#open.size >= MOST) throw new Failure(429, 'REFUSED', 'too many logins are under way', {retry_after: 10})
    const nonce = randomBytes(24).toString('base64url')
    this.#open.set(nonce, {user, expiresAt: now + CHALLENGE_MS})
    return {nonce, expires_at: now + CHALLENGE_MS}
  }

  /**
   * The user whose key has signed a challenge of ours. `ca`: what the head is known by, which stands in what is signed: a
   * signature for another head is none for this one. Errors: 401.
   */
  async check({nonce, signature}: Record<string, unknown>, ca: string, people: People): Promise<string> {
    const found = typeof nonce === 'string' ? this.#open.get(nonce) : undefined
    if (found) this.#open.delete(nonce as string)
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
    if (this.#checking >= MOST_AT_ONCE) throw new Failure(429, 'REFUSED', 'many log in just now', {retry_after: 2})
    this.#checking++
    try {
      const text = loginText({user: found.user, nonce: nonce as string, head: headFingerprint(ca)})
      const signer = await verify(Buffer.from(signature, 'base64'), text, found.user, keys)
      if (signer !== found.user || people.user(found.user)?.keys !== keys) throw refused // removed meanwhile
      return found.user
    } finally {
      this.#checking--
    }
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
