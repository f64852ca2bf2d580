import {Agent, request, type IncomingMessage} from 'node:http'
import type {Hold} from '../limits/budget.ts'
import {DEADLINE_HEADER} from '../../types.ts'
import {leftOf} from '../queue/deadline.ts'
import {RELEASE_HEADER} from '../releases/way.ts'
import type {Call} from './calls.ts'
import {take} from './frames.ts'
import {sizeOf} from './messages.ts'
import {CODES, Status} from './status.ts'

export interface HttpAnswer {
  body: Buffer
  /** Bytes of its JSON, where tensors follow. */
  headerLength: number | undefined
}

/**
 * The gateway's own calls over HTTP, as the caller: so a call of gRPC meets the same keys, limits, releases and tries as
 * any other.
 */
export class Onward {
  readonly #agent = new Agent({keepAlive: true, maxSockets: 256, maxFreeSockets: 16})
  readonly #url: () => string

  /** `url`: where the head itself listens without TLS, on loopback. */
  constructor(url: () => string) {
    this.#url = url
  }

  close(): void {
    this.#agent.destroy()
  }

  /** The answer of an endpoint; `pieces` of a body make it a POST. Throws Status. */
  async ask(
    path: string,
    {authorization, signal, hold, deadline, metadata, tell}: Omit<Call, 'caller'>,
    body?: {pieces: Buffer[]; headerLength: number},
  ): Promise<HttpAnswer> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const call = request(this.#url() + path, {
        agent: this.#agent,
        method: body ? 'POST' : 'GET',
        signal,
        headers: {
          ...metadata,
          authorization,
          ...(deadline !== undefined && {[DEADLINE_HEADER]: leftOf(deadline, performance.now())}),
          ...(body && {
            'content-type': 'application/octet-stream',
            'content-length': sizeOf(body.pieces),
            'inference-header-content-length': body.headerLength,
          }),
        },
      })
      call.once('response', resolve).once('error', reject)
      for (const piece of body?.pieces ?? []) if (piece.length > 0) call.write(piece)
      call.end()
    }).catch((error: Error) => failed(error))
    const said = await collect(answer, hold).catch((error: Error) => failed(error))
    const release = answer.headers[RELEASE_HEADER]
    if (release !== undefined) tell(String(release))
    if (answer.statusCode === 200) {
      const length = answer.headers['inference-header-content-length']
      return {body: said, headerLength: length === undefined ? undefined : Number(length)}
    }
    const again = Number(answer.headers['retry-after'])
    throw Status.ofHttp(answer.statusCode ?? 500, errorOf(said), again > 0 ? again : undefined)
  }
}

async function collect(answer: IncomingMessage, hold: Hold): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    take(hold, chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function failed(error: Error): never {
  if (error instanceof Status) throw error
  throw new Status(CODES.unavailable, `the gateway did not answer: ${error.message}`)
}

/** The protocol's own `{"error": ...}`, or what there is. */
function errorOf(body: Buffer): string {
  try {
    const {error} = JSON.parse(body.toString('utf8')) as {error?: unknown}
    if (typeof error === 'string') return error
    if (typeof error === 'object' && error !== null) return String((error as {message?: unknown}).message)
  } catch {
    // no JSON
  }
  return body.toString('utf8', 0, 500) || 'the model server said nothing'
}
