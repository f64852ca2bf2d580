import type {IncomingHttpHeaders, ServerResponse} from 'node:http'
import type {Caller} from '../tokens/token-kinds.ts'

/** Of a request what those need who read its body and count it: one of the gateway's (exchange.ts), or of Fastify's. */
export interface Incoming {
  headers: IncomingHttpHeaders
  /** A stream until it is read; undefined where there is none. */
  body?: unknown
  caller?: Caller | undefined
  /** Has something done when the answer has gone out, or the connection is gone; in the order given. */
  atEnd(work: () => void): void
}

/** Aborted when its reader is gone, or has its answer. */
export function goneOf(request: Pick<Incoming, 'atEnd'>): AbortSignal {
  const gone = new AbortController()
  request.atEnd(() => gone.abort())
  return gone.signal
}

/** One listener for all that is to be done at a request's end: each costs as much as a header. */
export function endOf(raw: ServerResponse): Incoming['atEnd'] {
  let works: (() => void)[] | undefined
  return (work) => {
    if (raw.destroyed) return work()
    if (works) return void works.push(work)
    const mine = (works = [work])
    // It comes once; `once` would cost as much as all that is done there.
    raw.on('close', () => {
      for (const one of mine) one()
    })
  }
}
