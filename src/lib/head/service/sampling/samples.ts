import type {Exchange, Sampled} from '../../types.ts'
import {contentOf, type Body} from './content.ts'
import type {RedactPath} from './redact.ts'

/** Bytes of bodies in one answer: what is more is dropped, and counted. */
const MOST_BYTES = 8 * 1024 ** 2
/** Who sample at once, over all endpoints. */
const MOST_LISTENERS = 8

/** A request that was answered. */
export interface Answered {
  endpoint: string
  release: string
  method: string
  path: string
  /** Milliseconds until the answer had gone out whole. */
  ms: number
  status: number
  request: Body
  answer: Body
}

/** What somebody wants of an endpoint's traffic. */
export interface Wanted {
  most: number
  /** Milliseconds after which there is an answer, however few there were. */
  ms: number
  redact: readonly RedactPath[]
}

interface Listener extends Wanted {
  endpoint: string
  sampled: Sampled
  bytes: number
  finish(): void
}

/**
 * Requests and answers for who asks for them, while they ask: nothing is kept otherwise, and nothing on the disk. Whoever
 * may ask has the admin token. No header is in a sample but the type of the content.
 */
export class Samples {
  readonly #listeners = new Set<Listener>()

  /** Whether anybody wants this endpoint's traffic now. */
  wants(endpoint: string): boolean {
    for (const one of this.#listeners) if (one.endpoint === endpoint) return true
    return false
  }

  /** Undefined where too many ask already. `signal`: who asked is gone. */
  collect(endpoint: string, wanted: Wanted, signal: AbortSignal): Promise<Sampled> | undefined {
    if (this.#listeners.size >= MOST_LISTENERS) return undefined
    return new Promise((done) => {
      const sampled: Sampled = {exchanges: [], dropped: 0}
      const finish = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', finish)
        this.#listeners.delete(listener)
        done(sampled)
      }
      const listener: Listener = {...wanted, endpoint, sampled, bytes: 0, finish}
      const timer = setTimeout(finish, wanted.ms)
      signal.addEventListener('abort', finish, {once: true})
      this.#listeners.add(listener)
      if (signal.aborted) finish()
    })
  }

  offer(answered: Answered): void {
    for (const one of this.#listeners) if (one.endpoint === answered.endpoint) take(one, answered)
  }
}

function take(listener: Listener, {endpoint: _, request, answer, ms, ...about}: Answered): void {
  const {sampled} = listener
  const bytes = (request.bytes?.length ?? 0) + (answer.bytes?.length ?? 0)
  if (listener.bytes + bytes > MOST_BYTES) {
    sampled.dropped++
    return
  }
  listener.bytes += bytes
  const exchange: Exchange = {
    ...about,
    at: Date.now(),
    ms: Math.round(ms * 10) / 10,
    request: contentOf(request, listener.redact),
    answer: contentOf(answer, listener.redact),
  }
  sampled.exchanges.push(exchange)
  if (sampled.exchanges.length >= listener.most) listener.finish()
}
