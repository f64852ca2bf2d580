import type {IncomingHttpHeaders, IncomingMessage, ServerResponse} from 'node:http'
import type {Readable} from 'node:stream'
import {answerOf} from '../failure.ts'
import {endOf, type Incoming} from '../limits/incoming.ts'
import type {Caller} from '../tokens/token-kinds.ts'

/** A request to an endpoint, and its answer: what of node:http the gateway needs, and who has answered. */
export class Exchange implements Incoming {
  readonly method: string
  /** As the client wrote it. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly raw: ServerResponse
  readonly atEnd: Incoming['atEnd']
  caller: Caller | undefined
  /** Undefined of what has none by its method. */
  body: Readable | undefined
  /** Headers of its answer, for a page in a browser. */
  cors: Record<string, string> | undefined
  #isTaken = false

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.method = request.method!
    this.url = request.url!
    this.headers = request.headers
    this.raw = response
    this.atEnd = endOf(response)
    this.body = this.method === 'POST' ? request : undefined
  }

  /** Whether it was answered, or somebody is about to. */
  get isTaken(): boolean {
    return this.#isTaken
  }

  /** From here on nobody else answers it. */
  take(): void {
    this.#isTaken = true
  }

  /** Answers with JSON, unless somebody else has. */
  answer(status: number, body: unknown, headers: Record<string, string | number> = {}): void {
    if (this.#isTaken) return
    this.#isTaken = true
    if (this.raw.destroyed) return
    const text = JSON.stringify(body)
    this.raw.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      ...this.cors,
      ...headers,
    })
    this.raw.end(text)
  }

  /** Answers with an error, in the shape that callers of this path understand. */
  refuse(error: Error): void {
    const {status, headers, body} = answerOf(error, this.url)
    this.answer(status, body, headers)
  }
}
