import type {Readable} from 'node:stream'
import type {FastifyRequest} from 'fastify'
import {Agent, type Dispatcher} from 'undici'
import type {GatewayCall} from './gateway-calls.ts'
import {gatewayConnector} from './gateway-connector.ts'
import {onwardHeaders} from './onward.ts'
import type {Parts} from './parts.ts'
import {DEADLINE_HEADER, leftOf} from './queue/deadline.ts'
import type {Kept} from './releases/same-answer.ts'

const ANSWER_MS = 300_000
/** One who asks for health wants to know it now. */
const HEALTH_ANSWER_MS = 5000

/**
 * Of an answer that a front gives itself (node/flexrack_node/service/front.py): its server takes no connections now.
 */
const FRONT_HEADER = 'x-flexrack-front'

/** A request as a model server is to get it. */
export interface Onward {
  call: GatewayCall
  request: FastifyRequest
  /** Undefined where it is too large to be kept, and passed on as it comes (passBody). */
  body: Buffer | undefined
  /** By performance.now(). */
  deadline: number | undefined
}

/** The head of an answer, and a body that is still to be read. */
export type Answer = Dispatcher.ResponseData

/** The connections to model servers. */
export class ModelServers {
  readonly #agent: Agent

  private constructor(agent: Agent) {
    this.#agent = agent
  }

  /**
   * What stands in front of a model server on another node lets nobody else in; those on this machine are asked plainly.
   */
  static open({authority, health}: Parts): ModelServers {
    const agent = new Agent({
      connect: gatewayConnector(authority, 2000),
      // As many as there are requests: how many there are is the queue's to say.
      connections: null,
      keepAliveTimeout: 2000,
    })
    agent.on('connect', (origin) => health.connected(String(origin).replace(/\/$/, '')))
    return new ModelServers(agent)
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  /** The head of the answer, with a body to be read. Throws where no model server gave one. */
  async ask(target: string, onward: Onward, signal: AbortSignal): Promise<Answer> {
    const {call, request, deadline} = onward
    const {method, headers} = request
    const takesBody = method !== 'GET' && method !== 'HEAD'
    const body = takesBody ? (onward.body ?? (request.body as Readable | undefined)) : undefined
    const timeout = call.isHealth ? HEALTH_ANSWER_MS : ANSWER_MS
    const {host: _, ...left} = onwardHeaders(headers, takesBody)
    const answer = await this.#agent.request({
      origin: new URL(target).origin,
      path: targetPath(target, call, request.url),
      method: method as Dispatcher.HttpMethod,
      signal,
      headers: {
        ...left,
        ...(body && {'content-type': contentTypeOf(request)}),
        ...(deadline !== undefined && {[DEADLINE_HEADER]: leftOf(deadline, performance.now())}),
      },
      body: body ?? null,
      headersTimeout: timeout,
      bodyTimeout: timeout,
    })
    if (answer.statusCode === 503 && answer.headers[FRONT_HEADER] !== undefined && target.startsWith('https:')) {
      discard(answer)
      throw Object.assign(new Error('the front has no server behind it'), {code: NO_SERVER})
    }
    return answer
  }
}

/** Of an error: the front of a model server answered that it reaches none. */
export const NO_SERVER = 'FLEXRACK_NO_SERVER'

/** Seconds that a model server has for its answer. */
export const ANSWER_SECONDS = ANSWER_MS / 1000

export function keptOf({statusCode, headers}: Answer, body: Buffer | undefined): Kept {
  const type = headers['content-type']
  const isPlain = headers['content-encoding'] === undefined
  return {status: statusCode, type: Array.isArray(type) ? type[0] : type, body: isPlain ? body : undefined}
}

/** Not read to its end: it may have none. */
export function discard({body}: Answer): void {
  body.on('error', () => {}).destroy()
}

/**
 * Model servers insist on JSON being called so; a bare `curl -d` calls it a form. With tensors behind the JSON (the Open
 * Inference Protocol's binary data) it is none, and clients say no type.
 */
function contentTypeOf(request: FastifyRequest): string {
  const given = request.headers['content-type']
  if (request.headers['inference-header-content-length'] !== undefined) return given ?? 'application/octet-stream'
  return given === undefined || given.startsWith('application/x-www-form-urlencoded') ? 'application/json' : given
}

function targetPath(target: string, call: GatewayCall, url: string): string {
  const query = url.includes('?') && !call.isHealth ? url.slice(url.indexOf('?')) : ''
  return `${new URL(target).pathname.replace(/\/$/, '')}${call.path}${query}`
}
