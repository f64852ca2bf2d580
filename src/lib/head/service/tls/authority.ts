import {randomBytes} from 'node:crypto'
import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {textIfThere} from '../../../base/index.ts'
import {HEAD_FILES} from '../../types.ts'
import {readDurable, Turns, writeDurably, writeTextDurably} from '../files/durable.ts'
import type {Issuer} from './issuer.ts'
import {crossSign, endOf, isFor, isSignedBy, issue, makeAuthority, type Identity, type Usage} from './certificates.ts'

const DAY_MS = 24 * 3_600_000
const AUTHORITY_MS = 3653 * DAY_MS
/**
 * A successor is made this long before the end: fronts keep certificates of the old one, and have this long to be
 * deployed anew.
 */
const SUCCESSOR_MS = 730 * DAY_MS
const LEAF_MS = 90 * DAY_MS
/** Well below LEAF_MS, or each look would make a new one. */
const RENEW_MS = 30 * DAY_MS

/**
 * authority.json, 0600: all that an authority is, in one file, so that no crash leaves a key without its certificate.
 */
interface Kept {
  current: Identity
  /** The current certificate signed by the authority before it, while that one lives. */
  cross?: string
  /** Certificate of the authority before it, while that one lives. */
  former?: string
  /** Of a head that was a standby: with what servers of the authority before it know the gateway. */
  gateway?: Identity
}

/** listener.json, 0600: a head that starts again shows the same certificate. */
interface Leaf {
  identity: Identity
}

/**
 * The rack's own certificate authority, made at the head's first start: below `tls` in the head's folder, readable by
 * its owner only. Renewing is lazy: whoever asks for a certificate gets one that lives for weeks. Errors: one that is
 * there and cannot be read is never made anew, as everybody trusts the old one.
 */
export class Authority implements Issuer {
  readonly #folder: string
  readonly #now: () => number
  readonly #turns = new Turns()
  #kept: Kept
  #gateway: {identity: Identity; trusted: string} | undefined

  private constructor(folder: string, kept: Kept, now: () => number) {
    this.#folder = folder
    this.#kept = kept
    this.#now = now
  }

  static async open(headFolder: string, now: () => number = Date.now): Promise<Authority> {
    const folder = join(headFolder, 'tls')
    const kept = await readDurable<Kept | undefined>('head.authority', join(folder, 'authority.json'), undefined)
    const authority = new Authority(folder, kept ?? {current: await newAuthority(now())}, now)
    if (!kept) await authority.#keep()
    await authority.renew()
    return authority
  }

  /** What others trust, PEM: the current authority, and the one before it while it lives. */
  get trusted(): string {
    return [this.#kept.current.certificate, this.#kept.former]
      .filter(Boolean)
      .map((pem) => `${pem!.trim()}\n`)
      .join('')
  }

  /** Makes a successor where the end comes near, and forgets the one before it once that has ended. */
  async renew(): Promise<void> {
    await this.#turns.take(async () => {
      const now = this.#now()
      const {current, former} = this.#kept
      if (endOf(current.certificate) - now < SUCCESSOR_MS) {
        const successor = await newAuthority(now)
        const isOver = endOf(current.certificate) <= now
        this.#kept = {
          current: successor,
          ...(!isOver && {cross: await crossSign(current, successor), former: current.certificate}),
        }
        await this.#keep()
      } else if (former !== undefined && endOf(former) <= now) {
        this.#kept = {current} // what the one before it signed has ended with it
        await this.#keep()
      }
      if ((await textIfThere(join(this.#folder, HEAD_FILES.ca))) !== this.trusted)
        await writeTextDurably(join(this.#folder, HEAD_FILES.ca), this.trusted)
    })
  }

  /**
   * A leaf of the head's own, by `file`: the kept one while it is for these names and lives for weeks, else a new one.
   */
  async leaf(file: string, {name, names, usage}: {name: string; names: string[]; usage: Usage}): Promise<Identity> {
    await this.renew()
    return this.#turns.take(async () => {
      const path = join(this.#folder, `${file}.json`)
      const kept = await readDurable<Leaf | undefined>('head.certificate', path, undefined)
      const isCurrent =
        kept &&
        endOf(kept.identity.certificate) - this.#now() > RENEW_MS &&
        isFor(kept.identity.certificate, names) &&
        isSignedBy(kept.identity.certificate, this.#kept.current.certificate) &&
        kept.identity.certificate.endsWith(this.#kept.cross ?? '')
      if (isCurrent) return kept.identity
      const identity = await this.#issue({name, names, usage, until: this.#now() + LEAF_MS})
      await writeDurably('head.certificate', path, {identity} satisfies Leaf)
      return identity
    })
  }

  /** A certificate that nobody renews: it lives as long as the authority. Not kept here. */
  async lasting({name, names, usage}: {name: string; names: string[]; usage: Usage}): Promise<Identity> {
    return this.#issue({name, names, usage, until: Number.MAX_SAFE_INTEGER})
  }

  async issueLeaf(leaf: {name: string; names: string[]; usage: Usage}): Promise<Identity> {
    await this.renew()
    return this.#issue({...leaf, until: this.#now() + LEAF_MS})
  }

  async gateway(): Promise<Identity> {
    const {gateway: given} = this.#kept
    if (given && endOf(given.certificate) - this.#now() > DAY_MS) return given
    if (this.#gateway?.trusted !== this.trusted)
      this.#gateway = {
        identity: await this.lasting({name: 'flexrack gateway', names: [], usage: 'client'}),
        trusted: this.trusted,
      }
    return this.#gateway.identity
  }

  async #issue(leaf: {name: string; names: string[]; usage: Usage; until: number}): Promise<Identity> {
    const {current, cross} = this.#kept
    const identity = await issue(current, {...leaf, from: this.#now()})
    return {key: identity.key, certificate: `${identity.certificate.trim()}\n${cross ?? ''}`}
  }

  async #keep(): Promise<void> {
    await writeDurably('head.authority', join(this.#folder, 'authority.json'), this.#kept)
  }
}

/**
 * Its name is its own: two authorities of one name, as a head that was set up anew has them, would be mistaken for each
 * other.
 */
function newAuthority(now: number): Promise<Identity> {
  return makeAuthority(`flexrack rack ${randomBytes(6).toString('hex')}`, now, now + AUTHORITY_MS)
}

/**
 * A new authority in this folder, beside one whose key is out of reach (`former`, PEM): what that one signed stays
 * trusted while it lives, and its servers let the gateway in by `gateway`.
 */
export async function succeed(
  headFolder: string,
  {former, gateway}: {former: string; gateway: Identity},
): Promise<void> {
  const kept: Kept = {current: await newAuthority(Date.now()), former, gateway}
  await writeDurably('head.authority', join(headFolder, 'tls', 'authority.json'), kept)
  await rm(join(headFolder, 'tls', 'listener.json'), {force: true})
}
