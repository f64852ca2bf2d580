import {count} from '../../../base/index.ts'
import {Crowd} from '../crowd.ts'
import type {Exchange} from '../gateway/exchange.ts'
import {Failure, tokenRefused} from '../failure.ts'
import {metric} from '../prometheus.ts'
import {Histogram} from '../releases/histogram.ts'
import {histogramLines} from '../releases/metrics.ts'
import type {HeadKeyLimits} from '../../../protocol/index.ts'
import type {ClientTraffic} from '../../types.ts'
import type {Caller} from './token-kinds.ts'
import type {Tokens} from './tokens.ts'
import type {TokenUsage} from '../usage/answer-usage.ts'
import {Bucket} from '../usage/bucket.ts'

/** Pairs of endpoint and client that are counted by name; what more there are is counted together, as `other`. */
const MOST_COUNTED = 500
/** Keys that are known; with more, those that have nothing under way and no limits are forgotten. */
const MOST_IDLE = 1000
/** A timer that is set further off fires at once; nothing is under way for so long. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** nginx's word for a caller that went away before its answer. */
const GONE = 499

/** What a client was answered, since the head's start. */
export interface ClientCounts {
  inFlight: number
  requests: number
  refused: number
  /** Of prompts and completions, where answers tell. */
  tokens: number
}

interface Key {
  requests: Bucket | undefined
  tokens: Bucket | undefined
  /** Requests under way. */
  open: number
}

/** What ends with a key. */
interface Watched {
  ends: Crowd<() => void>
  timer: NodeJS.Timeout | undefined
}

interface Counted {
  endpoint: string
  client: string
  inFlight: number
  latencies: Histogram
  /** Until the first piece of a stream. */
  first: Histogram
  codes: Map<number, number>
  refused: Record<'rate' | 'concurrency' | 'tokens', number>
  tokens: Record<keyof TokenUsage, number>
}

/**
 * Who calls endpoints: what each key may have at once and in a second, what it has under way, and how it was answered.
 * A key is a token of an endpoint that was made for one client by name; other tokens have no limits, and no name.
 */
export class Clients {
  readonly #keys = new Map<string, Key>()
  readonly #counted = new Map<string, Counted>()
  /** Until the key ends: by its id. */
  readonly #watching = new Map<string, Watched>()
  readonly #tokens: Tokens

  constructor(tokens: Tokens) {
    this.#tokens = tokens
    tokens.whenRevoked((id) => this.#cut(id))
  }

  /**
   * Lets a request in, and counts it until its answer has gone out or its connection. Throws 429 with the seconds after
   * which to try again.
   */
  enter(exchange: Exchange, endpoint: string): void {
    const {caller, raw} = exchange
    const key = caller?.kind === 'endpoint' ? caller : undefined
    const counted = this.#countedOf(endpoint, key?.client ?? '')
    const begun = performance.now()
    counted.inFlight++
    exchange.atEnd(() => {
      counted.inFlight--
      counted.latencies.add(performance.now() - begun)
      const code = raw.writableFinished ? raw.statusCode : GONE
      counted.codes.set(code, (counted.codes.get(code) ?? 0) + 1)
    })
    if (!key) return
    if (!this.#tokens.has(key.id)) throw tokenRefused() // revoked since the request's head was read
    const mine = this.#keys.get(key.id) ?? this.#openKey(key.id, key.limits, begun)
    admit(key, mine, counted)
    const end = (): void => cut(exchange)
    mine.open++
    const unwatch = this.watch(key, end)
    exchange.atEnd(() => {
      unwatch()
      mine.open--
    })
  }

  /** It stays until it is revoked: what comes and goes with each request costs more (docs/adr/0066). */
  #openKey(id: string, limits: HeadKeyLimits, now: number): Key {
    if (this.#keys.size >= MOST_IDLE)
      for (const [known, key] of this.#keys)
        if (key.open === 0 && !key.requests && !key.tokens) this.#keys.delete(known)
    const made = openKey(limits, now)
    this.#keys.set(id, made)
    return made
  }

  /** What an answer has taken is known when it has ended: the key's next requests wait for it. */
  spend({caller}: Exchange, endpoint: string, used: TokenUsage, firstMs?: number): void {
    const key = caller?.kind === 'endpoint' ? caller : undefined
    const {tokens, first} = this.#countedOf(endpoint, key?.client ?? '')
    if (firstMs !== undefined) first.add(firstMs)
    tokens.prompt += used.prompt
    tokens.completion += used.completion
    if (key) this.#keys.get(key.id)?.tokens?.take(used.prompt + used.completion)
  }

  /** Has `end` called once a key opens nothing any more. Gives what ends that. */
  watch({id, expiresAt}: Pick<Caller & {kind: 'endpoint'}, 'id' | 'expiresAt'>, end: () => void): () => void {
    const watched = this.#watching.get(id) ?? this.#watchKey(id, expiresAt)
    const standing = watched.ends.add(end)
    return () => void watched.ends.delete(standing)
  }

  /** One timer a key and not a request: each would be of another length, and cost more than all else here. */
  #watchKey(id: string, expiresAt: number): Watched {
    const left = expiresAt - Date.now()
    const timer = left < LONGEST_TIMER_MS ? setTimeout(() => this.#cut(id), left).unref() : undefined
    const watched = {ends: new Crowd<() => void>(), timer}
    this.#watching.set(id, watched)
    return watched
  }

  counts(endpoint: string, client: string): ClientCounts {
    const found = this.#counted.get(nameOf(endpoint, client))
    if (!found) return {inFlight: 0, requests: 0, refused: 0, tokens: 0}
    const requests = [...found.codes.values()].reduce((sum, count) => sum + count, 0)
    const refused = Object.values(found.refused).reduce((sum, count) => sum + count, 0)
    return {inFlight: found.inFlight, requests, refused, tokens: found.tokens.prompt + found.tokens.completion}
  }

  /** Who has called an endpoint; '' has no name. */
  traffic(endpoint: string): ClientTraffic[] {
    return [...this.#counted.values()]
      .filter((one) => one.endpoint === endpoint)
      .map(({client, inFlight, codes, refused, tokens, latencies, first}) => {
        const failed = [...codes].filter(([code]) => code >= 500).reduce((sum, [, count]) => sum + count, 0)
        const limited = Object.values(refused).reduce((sum, count) => sum + count, 0)
        const times = {latencies: latencies.counts(), first: first.counts()}
        return {client, in_flight: inFlight, requests: latencies.total, failed, limited, tokens: {...tokens}, ...times}
      })
  }

  /** An endpoint is gone, or a client of it. */
  forget(endpoint: string, client?: string): void {
    for (const [name, one] of this.#counted)
      if (one.endpoint === endpoint && (client === undefined || one.client === client)) this.#counted.delete(name)
  }

  /** For Prometheus. */
  metrics(): string {
    const all = [...this.#counted.values()].map((one) => ({
      ...one,
      labels: `endpoint="${one.endpoint}",client="${one.client}"`,
    }))
    return [
      metric(
        'requests_total',
        'counter',
        'Requests to endpoints, by the status of their answer.',
        all.flatMap(({labels, codes}) => [...codes].map(([code, count]) => `{${labels},code="${code}"} ${count}`)),
      ),
      metric(
        'request_seconds',
        'histogram',
        'Time from the head of a request to its end.',
        all.flatMap(({labels, latencies}) => histogramLines(labels, latencies)),
      ),
      metric(
        'requests_in_flight',
        'gauge',
        'Requests under way.',
        all.map(({labels, inFlight}) => `{${labels}} ${inFlight}`),
      ),
      metric(
        'client_tokens_total',
        'counter',
        "Tokens of OpenAI's API, where answers tell them.",
        all.flatMap(({labels, tokens}) =>
          Object.entries(tokens).map(([part, count]) => `{${labels},part="${part}"} ${count}`),
        ),
      ),
      metric(
        'refused_total',
        'counter',
        'Requests over a limit of their key.',
        all.flatMap(({labels, refused}) =>
          Object.entries(refused).map(([limit, count]) => `{${labels},limit="${limit}"} ${count}`),
        ),
      ),
    ].join('')
  }

  /** It opens nothing any more: what is under way with it ends, streams too. */
  #cut(id: string): void {
    const watched = this.#watching.get(id)
    clearTimeout(watched?.timer)
    this.#watching.delete(id)
    for (const {at, member: end} of watched?.ends.all() ?? []) if (at >= 0) end()
    this.#keys.delete(id)
  }

  #countedOf(endpoint: string, client: string, isLast = false): Counted {
    const name = nameOf(endpoint, client)
    const found = this.#counted.get(name)
    if (found) return found
    if (this.#counted.size >= MOST_COUNTED && !isLast) return this.#countedOf('', 'other', true)
    const made = {
      endpoint,
      client,
      inFlight: 0,
      latencies: new Histogram(),
      first: new Histogram(),
      codes: new Map<number, number>(),
      refused: {rate: 0, concurrency: 0, tokens: 0},
      tokens: {prompt: 0, completion: 0},
    }
    this.#counted.set(name, made)
    return made
  }
}

function admit({limits}: Caller & {kind: 'endpoint'}, mine: Key, counted: Counted): void {
  const {concurrency, requestsPerSecond: rate} = limits
  if (concurrency !== undefined && mine.open >= concurrency) {
    counted.refused.concurrency++
    const message = `this key may have ${count(concurrency, 'request')} under way at once; try again when one has ended`
    throw new Failure(429, 'REFUSED', message, {retry_after: 1})
  }
  const now = performance.now()
  const owed = mine.tokens?.wait(1, now) ?? 0
  if (owed > 0) {
    counted.refused.tokens++
    const message = `this key may use ${limits.tokensPerMinute} tokens a minute`
    throw new Failure(429, 'REFUSED', message, {retry_after: Math.ceil(owed)})
  }
  const wait = mine.requests?.wait(1, now) ?? 0
  if (wait > 0) {
    counted.refused.rate++
    throw new Failure(429, 'REFUSED', `this key may send ${rate} requests a second`, {retry_after: Math.ceil(wait)})
  }
  mine.requests?.take(1)
}

function openKey({requestsPerSecond: rate, tokensPerMinute: tokens}: HeadKeyLimits, now: number): Key {
  return {
    requests: rate === undefined ? undefined : new Bucket(rate, Math.max(1, rate), now),
    tokens: tokens === undefined ? undefined : new Bucket(tokens / 60, Math.max(1, tokens), now),
    open: 0,
  }
}

/** Says so where the answer has not begun; else breaks it off, which no client takes for its end. */
function cut(exchange: Exchange): void {
  const {raw} = exchange
  if (raw.headersSent) return void raw.destroy()
  raw.shouldKeepAlive = false
  exchange.refuse(tokenRefused())
}

function nameOf(endpoint: string, client: string): string {
  return `${endpoint} ${client}`
}
