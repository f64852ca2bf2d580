import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {isLoopbackUrl, textIfThere} from '../../../base/index.ts'
import {HEAD_FILES, STANDBY_NAME, type FollowConfig, type FollowingStatus, type ServiceConfig} from '../../types.ts'
import {writeTextDurably} from '../files/durable.ts'
import type {Endpoints, EndpointRecord} from '../documents/endpoints.ts'
import {logLine} from '../log.ts'
import type {Rollouts} from '../releases/rollouts.ts'
import {endOf, isFor, type Identity} from '../tls/certificates.ts'
import type {Tokens} from '../tokens/tokens.ts'
import type {Traffic} from '../gateway/traffic.ts'
import {Dismissed, FirstHead} from './first-head.ts'
import {readFollowed, writeFollowed, type Followed} from './followed.ts'
import {GivenCertificates} from './issuer.ts'
import {readSnapshot, type Snapshot} from './snapshot.ts'

const DAY_MS = 24 * 3_600_000
/** How long endpoints are served without the head. A key that was revoked meanwhile works as long, and not longer. */
const TRUST_MS = 7 * DAY_MS
/** Certificates live 90 days: a head that stays away for long must not have left one that is about to end. */
const RENEW_MS = 45 * DAY_MS
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 2000
/** How much of the time since the head was heard a crash may forget; it counts as not heard. */
const KEEP_MS = 600_000

export interface Learners {
  tokens: Tokens
  endpoints: Endpoints
  rollouts: Rollouts
  traffic: Traffic
}

/**
 * A standby's side of following: it asks its head all the time what is new, keeps that, and gives it to who serves.
 * Where the head does not answer it goes on with what it has; where the head answers that the token opens nothing,
 * nothing is served any more.
 */
export class Following {
  readonly certificates: GivenCertificates
  readonly #config: ServiceConfig & {follow: FollowConfig}
  readonly #learners: Learners
  #followed: Followed
  #first: FirstHead
  #heardAt: number
  #lastError: string | null = null
  #ended = new AbortController()
  #url = (): string => ''

  private constructor(config: ServiceConfig & {follow: FollowConfig}, learners: Learners, followed: Followed) {
    this.#config = config
    this.#learners = learners
    const {node, url} = config.follow
    this.#followed = {...followed, first: {node, url}}
    this.#heardAt = followed.heardAt
    this.certificates = new GivenCertificates(followed, trustedBy(config, followed))
    this.#first = new FirstHead(config.follow, this.certificates.trusted)
    this.#teach(followed.state)
  }

  /** With what was kept; without it, once the head has answered for the first time. */
  static async open(config: ServiceConfig & {follow: FollowConfig}, learners: Learners): Promise<Following> {
    const kept = await readFollowed(config.folder)
    if (kept) return new Following(config, learners, kept)
    const first = new FirstHead(config.follow, config.follow.ca)
    for (let failures = 0; ; failures++) {
      try {
        const token = await readToken(config.folder)
        const {listener, gateway} = await identity(first, token)
        const followed: Followed = {tokenId: idOf(token), heardAt: Date.now(), listener, gateway}
        await writeFollowed(config.folder, followed)
        return new Following(config, learners, followed)
      } catch (error) {
        if (failures % 30 === 0)
          logLine(`the head at ${config.follow.url} is not followed yet: ${(error as Error).message}`)
        await pause(pauseAfter(failures))
      } finally {
        first.close()
      }
    }
  }

  get status(): FollowingStatus {
    const {node, url} = this.#config.follow
    const servesUntil = this.#heardAt + (this.#config.follow.trust ?? TRUST_MS)
    const isAway = this.#lastError !== null || this.#followed.state === undefined
    return {
      node,
      url,
      state: this.#followed.dismissed
        ? 'dismissed'
        : Date.now() > servesUntil
          ? 'expired'
          : isAway
            ? 'away'
            : 'following',
      heardAt: this.#heardAt,
      servesUntil,
      lastError: this.#lastError,
      unreached: this.#unreached(),
    }
  }

  /** Until end(). `url`: where this standby answers. */
  start(url: () => string): void {
    this.#url = url
    void this.#follow()
  }

  async end(): Promise<void> {
    this.#ended.abort()
    this.#first.close()
    await this.#keep().catch(() => {}) // what is forgotten is that the head was heard
  }

  async #follow(): Promise<void> {
    for (let failures = 0; !this.#ended.signal.aborted;) {
      try {
        await this.#ask()
        if (this.#lastError !== null) logLine(`the head at ${this.#config.follow.url} is followed`)
        this.#lastError = null
        failures = 0
      } catch (error) {
        if (this.#ended.signal.aborted) return
        const {message} = error as Error
        if (this.#lastError === null) logLine(`the head at ${this.#config.follow.url} is not followed: ${message}`)
        this.#lastError = message
        if (error instanceof Dismissed) await this.#dismissed().catch((why: Error) => logLine(why.message))
        await pause(pauseAfter(failures++), undefined, {signal: this.#ended.signal}).catch(() => {})
      }
    }
  }

  async #ask(): Promise<void> {
    const token = await readToken(this.#config.folder)
    if (this.#isStale(token)) await this.#renew(token)
    const {state, dismissed} = this.#followed
    const word = {
      after: dismissed ? null : (state?.version ?? null),
      url: this.#url(),
      in_flight: this.#learners.traffic.counts([]).in_flight,
      answered: this.#learners.traffic.answered(),
    }
    const answer = (await this.#first.ask('/flexrack/v1/follow', token, word)) as {state?: unknown}
    if (answer.state !== undefined) await this.#learn(readSnapshot(answer.state))
    this.#heardAt = Date.now()
    if (this.#heardAt - this.#followed.heardAt > KEEP_MS) await this.#keep()
  }

  /** On disk before it counts, but for what ends: a full disk must not keep a revoked key alive. */
  async #learn(state: Snapshot): Promise<void> {
    const {dismissed: _, ...followed} = this.#followed
    this.#followed = {...followed, state, heardAt: Date.now()}
    this.#teach(state)
    this.certificates.replace(this.#followed, trustedBy(this.#config, this.#followed))
    await writeFollowed(this.#config.folder, this.#followed)
    await this.#publish()
  }

  /** For who reaches this standby by its files. */
  async #publish(): Promise<void> {
    const file = join(this.#config.folder, 'tls', HEAD_FILES.ca)
    if ((await textIfThere(file)) !== this.certificates.trusted) await writeTextDurably(file, this.certificates.trusted)
  }

  #teach(state: Snapshot | undefined): void {
    const {tokens, endpoints, rollouts} = this.#learners
    const open = this.#followed.dismissed ? undefined : state
    rollouts.follow(open?.rollouts ?? {})
    endpoints.follow(this.#config.follow.near ? (open?.endpoints ?? {}) : reachable(open?.endpoints ?? {}))
    tokens.follow(open?.tokens ?? {})
  }

  async #dismissed(): Promise<void> {
    if (this.#followed.dismissed) return
    logLine('its token opens nothing there any more: nothing is served from here on')
    const {state} = this.#followed
    // Keys that end from here on are not heard of: nobody who starts with this has them.
    this.#followed = {...this.#followed, dismissed: true, ...(state && {state: {...state, tokens: {}}})}
    this.#teach(undefined)
    await writeFollowed(this.#config.folder, this.#followed)
  }

  #isStale(token: string): boolean {
    const {listener, gateway} = this.#followed
    const soon = Date.now() + RENEW_MS
    const isOld = [listener, gateway].some(({certificate}) => endOf(certificate) < soon)
    return isOld || this.#followed.tokenId !== idOf(token)
  }

  async #renew(token: string): Promise<void> {
    const {listener, gateway} = await identity(this.#first, token)
    this.#followed = {...this.#followed, tokenId: idOf(token), listener, gateway}
    await this.#keep()
    this.certificates.replace(this.#followed, trustedBy(this.#config, this.#followed))
    this.#renewed(listener)
  }

  /** Has the listener show a certificate from here on. */
  whenRenewed(show: (listener: Identity) => void): void {
    this.#renewed = show
  }
  #renewed = (_listener: Identity): void => {}

  async #keep(): Promise<void> {
    this.#followed = {...this.#followed, heardAt: this.#heardAt}
    await writeFollowed(this.#config.folder, this.#followed)
  }

  #unreached(): string[] {
    if (this.#config.follow.near || this.#followed.dismissed) return []
    const all = Object.entries(this.#followed.state?.endpoints ?? {})
    return all.flatMap(([name, {document}]) => (document.active?.targets?.some(isLoopbackUrl) ? [name] : []))
  }
}

/** The authority as the rack file's head has it now, and as it was last followed: it may have made a successor. */
function trustedBy({follow}: {follow: FollowConfig}, {state}: Followed): string {
  return state && !state.ca.includes(follow.ca.trim())
    ? `${state.ca.trim()}\n${follow.ca.trim()}\n`
    : (state?.ca ?? follow.ca)
}

async function identity(first: FirstHead, token: string): Promise<Pick<Followed, 'listener' | 'gateway'>> {
  const {listener, gateway} = (await first.ask('/flexrack/v1/follow/identity', token, {})) as Partial<Followed>
  if (!isIdentity(listener) || !isIdentity(gateway) || !isFor(listener.certificate, [STANDBY_NAME]))
    throw new Error('the head gave no certificates')
  return {listener, gateway}
}

function isIdentity(given: Identity | undefined): given is Identity {
  return typeof given?.key === 'string' && typeof given.certificate === 'string'
}

/** What a standby elsewhere reaches: on its own loopback is something else than what is meant. */
function reachable(endpoints: Record<string, EndpointRecord>): Record<string, EndpointRecord> {
  const far = (targets: string[] = []): string[] => targets.filter((target) => !isLoopbackUrl(target))
  return Object.fromEntries(
    Object.entries(endpoints).map(([name, {revision, document, running}]) => {
      const {active, canary} = document
      return [
        name,
        {
          revision,
          ...(running && {running: far(running)}),
          document: {
            ...document,
            ...(active && {active: {...active, targets: far(active.targets)}}),
            ...(canary && {canary: {...canary, targets: far(canary.targets)}}),
          },
        },
      ]
    }),
  )
}

async function readToken(folder: string): Promise<string> {
  return (await readFile(join(folder, HEAD_FILES.followToken), 'utf8')).trim()
}

function idOf(token: string): string {
  return token.split('.')[1] ?? ''
}

function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS)
}
