import {Agent, type Dispatcher} from 'undici'
import {Answering, type AnswerRules} from './answering.ts'
import type {Exchange} from './exchange.ts'
import type {GatewayCall} from './calls.ts'
import {gatewayConnector} from './connector.ts'
import {onwardHeaders} from '../onward.ts'
import type {Parts} from '../parts.ts'
import {DEADLINE_HEADER} from '../../types.ts'
import {leftOf} from '../queue/deadline.ts'
import type {Kept} from '../releases/same-answer.ts'

/** One who asks for health wants to know it now. */
const HEALTH_ANSWER_MS = 5000

/**
 * Of an answer that a front gives itself (node/flexrack_node/service/front.py): its server takes no connections now.
 */
const FRONT_HEADER = 'x-flexrack-front'

/** A request as a model server is to get it. */
export interface Onward {
  call: GatewayCall
  exchange: Exchange
  /** Undefined where it is too large to be kept, and passed on as it comes (passBody). */
  body: Buffer | undefined
  /** What the server gets in its place: it asks for the usage of a stream, too. Undefined once one has refused that. */
  asking: Buffer | undefined
  /** By performance.now(). */
  deadline: number | undefined
  /** Milliseconds that its server may be silent; 0 where the deadline ends that. */
  silence: number
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
    const answer = await this.#agent.request({...optionsOf(target, onward), signal})
    const refused = noServer(target, answer.statusCode, answer.headers)
    if (!refused) return answer
    discard(answer)
    throw refused
  }

  /** Sends the request, and the answer on to its caller. */
  pass(target: string, onward: Onward, rules: Omit<AnswerRules, 'refuse'>): Answering {
    const refuse: AnswerRules['refuse'] = (status, headers) =>
      noServer(target, status, headers) ?? (onward.asking ? notAsked(status) : undefined)
    const answering = new Answering(onward.exchange.raw, {...rules, refuse})
    try {
      this.#agent.dispatch(optionsOf(target, onward), answering)
    } catch (error) {
      answering.abort(error as Error) // undici refuses what is no header
    }
    return answering
  }
}

function optionsOf(
  target: string,
  {call, exchange, body, asking, deadline, silence}: Onward,
): Dispatcher.DispatchOptions {
  const {method, headers, url} = exchange
  const takesBody = method !== 'GET' && method !== 'HEAD'
  const sent = takesBody ? (asking ?? body ?? exchange.body) : undefined
  const timeout = call.isHealth ? HEALTH_ANSWER_MS : silence
  const onward = onwardHeaders(headers, takesBody, 'host')
  if (sent) onward['content-type'] = contentTypeOf(exchange)
  if (asking) onward['content-length'] = String(asking.length)
  // Packed, its tokens could not be counted, and a stream would come in lumps.
  if (call.path.startsWith('/v1/')) delete onward['accept-encoding']
  if (deadline !== undefined) onward[DEADLINE_HEADER] = leftOf(deadline, performance.now())
  const {origin, path} = placeOf(target)
  const query = call.isHealth ? -1 : url.indexOf('?')
  return {
    origin,
    path: `${path}${call.path}${query < 0 ? '' : url.slice(query)}`,
    method: method as Dispatcher.HttpMethod,
    headers: onward,
    body: sent ?? null,
    headersTimeout: timeout,
    bodyTimeout: timeout,
  }
}

/** An error where a front answers that it reaches no model server. */
function noServer(target: string, status: number, headers: Record<string, unknown>): Error | undefined {
  if (status !== 503 || headers[FRONT_HEADER] === undefined || !target.startsWith('https:')) return undefined
  return Object.assign(new Error('the front has no server behind it'), {code: NO_SERVER})
}

/** An error where it may be what was asked for besides that a server refuses: nothing was done. */
function notAsked(status: number): Error | undefined {
  if (status !== 400 && status !== 422) return undefined
  return Object.assign(new Error('the model server refused the request'), {code: REFUSED})
}

const MOST_PLACES = 1000
const places = new Map<string, {origin: string; path: string}>()

/** Of a target's URL, which is the same for many requests. */
function placeOf(target: string): {origin: string; path: string} {
  const known = places.get(target)
  if (known) return known
  const {origin, pathname} = new URL(target)
  const place = {origin, path: pathname.replace(/\/$/, '')}
  if (places.size >= MOST_PLACES) places.clear()
  places.set(target, place)
  return place
}

/** Of an error: the request is to be sent as its client wrote it. */
export const REFUSED = 'FLEXRACK_REFUSED'

/** Of an error: the front of a model server answered that it reaches none. */
export const NO_SERVER = 'FLEXRACK_NO_SERVER'

export function keptOf({statusCode, headers}: Pick<Answer, 'statusCode' | 'headers'>, body: Buffer | undefined): Kept {
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
function contentTypeOf({headers}: Exchange): string {
  const given = headers['content-type']
  if (headers['inference-header-content-length'] !== undefined) return given ?? 'application/octet-stream'
  return given === undefined || given.startsWith('application/x-www-form-urlencoded') ? 'application/json' : given
}
