import type {IncomingMessage, ServerResponse} from 'node:http'
import {announcedSize, readBody} from '../limits/body.ts'
import type {Callers} from '../tokens/callers.ts'
import {Exchange} from './exchange.ts'
import {Failure} from '../failure.ts'
import {answerPreflight, corsHeaders, isPreflight} from './cors.ts'
import {askHealth} from './health-call.ts'
import {endpointOf, KnownCalls} from './known-calls.ts'
import {ModelServers} from './model-server.ts'
import type {Parts} from '../parts.ts'
import {codingOf, requireUnpacked} from '../limits/packed.ts'
import {Passage} from './passage.ts'
import {passBody} from '../limits/passing.ts'
import {deadlineOf} from '../queue/deadline.ts'
import {askingUsage} from '../usage/stream-usage.ts'
import {outcomeOf, Way} from '../releases/way.ts'
import {requireNoRegion} from './shared-memory.ts'
import {silenceOf} from './silence.ts'
import {spend} from '../limits/spent.ts'
import {requireServing} from '../standby/refusals.ts'

/** A body up to this size is kept, so that the request can go to another target; a larger one is streamed once. */
const KEPT_BYTES = 32 * 1024 * 1024
const LARGEST_BODY = 4 * 1024 ** 3

const METHODS = new Set(['GET', 'HEAD', 'POST'])

/** Whether a request is the gateway's. What it is not is nobody else's, either, where its path says so (isOurs). */
export function isCall({method, url}: IncomingMessage): boolean {
  return METHODS.has(method!) && url!.startsWith('/endpoints/') && endpointOf(url!) !== undefined
}

/**
 * /endpoints/<name>/…: one stable address in front of the targets of its releases. It takes requests from node:http as
 * they come: a framework between them costs more than all else that is done here (docs/adr/0066).
 */
export class Gateway {
  readonly #parts: Parts
  readonly #callers: Callers
  readonly #servers: ModelServers
  readonly #calls = new KnownCalls()
  #isEnding = false

  constructor(parts: Parts, callers: Callers) {
    this.#parts = parts
    this.#callers = callers
    this.#servers = ModelServers.open(parts)
  }

  /** True where a browser was told what a page may send here. Nobody is told more: there is no key yet. */
  answersPreflight(request: IncomingMessage, response: ServerResponse): boolean {
    if (!isPreflight(request)) return false
    const name = endpointOf(request.url!)
    return name !== undefined && answerPreflight(this.#parts.endpoints.find(name), request, response)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = new Exchange(request, response)
    if (this.#isEnding) response.shouldKeepAlive = false
    try {
      await this.#pass(exchange, request)
    } catch (error) {
      exchange.refuse(error as Error)
    }
  }

  /** Connections end with their answers from here on. */
  end(): void {
    this.#isEnding = true
  }

  close(): Promise<void> {
    return this.#servers.close()
  }

  /** Throws Failure. */
  async #pass(exchange: Exchange, request: IncomingMessage): Promise<void> {
    const parts = this.#parts
    const {url, headers} = exchange
    const place = this.#calls.placeOf(url)
    const {endpoint: name, path} = place
    exchange.cors = corsHeaders(parts.endpoints.find(name), headers)
    const caller = this.#callers.identify(headers, request.socket)
    exchange.caller = caller
    if (caller.kind !== 'admin' && !(caller.kind === 'endpoint' && caller.endpoint === name))
      throw new Failure(403, 'REFUSED', `a token of kind ${caller.kind} does not open ${path}`)
    if (parts.following) requireServing(parts.following)
    parts.superseded.requireServing()
    const record = parts.endpoints.find(name)
    if (!record) throw new Failure(404, 'NOT_FOUND', `no endpoint ${name}`)
    parts.clients.enter(exchange, name)
    const call = this.#calls.callOf(place, url, exchange.method, record.document.active ?? undefined)
    const deadline = deadlineOf(headers, performance.now())
    const silence = silenceOf(record, deadline, request.socket)
    const coding = codingOf(exchange, KEPT_BYTES)
    const keeps = exchange.body === undefined || announcedSize(exchange) <= KEPT_BYTES
    const body = keeps
      ? await readBody(exchange, KEPT_BYTES, parts.limits)
      : await passBody(exchange, LARGEST_BODY, parts.limits, false, spend)
    if (coding !== undefined) await requireUnpacked(exchange, coding, body as Buffer, parts.limits)
    else if (keeps) requireNoRegion(call, headers, body as Buffer)
    const asking = keeps && coding === undefined ? askingUsage(call.path, body as Buffer) : undefined
    const way = new Way(parts, name, headers, call.isHealth)
    const onward = {call, exchange, body: body ?? undefined, asking, deadline, silence}
    const sent = {parts, servers: this.#servers, onward, way}
    try {
      await (call.isHealth ? askHealth(sent) : new Passage(sent).forward())
    } catch (error) {
      way.end(error instanceof Failure ? outcomeOf(error.status) : 'failed')
      throw error
    }
  }
}
