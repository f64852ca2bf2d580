import {pipeline, type Readable} from 'node:stream'
import {setTimeout as pause} from 'node:timers/promises'
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Agent, type Dispatcher} from 'undici'
import {announcedSize, readBody} from './body.ts'
import {Failure} from './failure.ts'
import {readCall, type GatewayCall} from './gateway-calls.ts'
import {gatewayConnector} from './gateway-connector.ts'
import {causeCode, isBroken, isNotConnected} from './lost-target.ts'
import {backwardHeaders, onwardHeaders} from './onward.ts'
import type {Parts} from './parts.ts'
import {failureOf, passBody} from './passing.ts'
import {pathOf} from './path.ts'
import {keep, LARGEST_COPIED, Tap} from './releases/shadow.ts'
import type {Kept} from './releases/same-answer.ts'
import {outcomeOf, Way} from './releases/way.ts'

/** A body up to this size is kept, so that the request can go to another target; a larger one is streamed once. */
const KEPT_BYTES = 32 * 1024 * 1024
const LARGEST_BODY = 4 * 1024 ** 3
const ANSWER_MS = 300_000
/** A copy of a request holds a place that others wait for. */
const COPY_MS = 60_000
/** One who asks for health wants to know it now. */
const HEALTH_ANSWER_MS = 5000
/** How long a request waits for a target that takes connections, over a restart or a switch. */
const PATIENCE_MS = 15_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000
/**
 * A request during which a target's connection broke is sent once more, where its answer does not
 * depend on how often it is asked. Not again, as it may be the cause.
 */
const MOST_BREAKS = 1

/**
 * Of an answer that a front gives itself (node/flexrack_node/service/front.py): its server takes no connections now.
 */
const FRONT_HEADER = 'x-flexrack-front'

/** Names the release that answered. */
const RELEASE_HEADER = 'x-flexrack-release'

/** /endpoints/<name>/…: one stable address in front of the targets of its releases. */
export async function addGateway(app: FastifyInstance, parts: Parts): Promise<void> {
  // What stands in front of a model server on another node lets nobody else in; those on this machine are asked
  // plainly.
  const agent = new Agent({
    connect: gatewayConnector(parts.authority, 2000),
    connections: 128,
    keepAliveTimeout: 2000,
  })
  app.addHook('onClose', () => agent.destroy())
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const {name} = request.params as {name: string}
    const record = parts.endpoints.find(name)
    if (!record) throw new Failure(404, 'NOT_FOUND', `no endpoint ${name}`)
    parts.clients.enter(request, reply, name)
    const call = readCall(name, record.document.active ?? {}, request.method, pathOf(request.url))
    const keeps = request.body === undefined || announcedSize(request) <= KEPT_BYTES
    const body = keeps
      ? await readBody(request, KEPT_BYTES, parts.limits)
      : await passBody(request, LARGEST_BODY, parts.limits, false)
    const way = new Way(parts, name, request.headers, call.isHealth)
    try {
      await new Passage(parts, agent, call, request, reply, body, way).forward()
    } catch (error) {
      way.end(error instanceof Failure ? outcomeOf(error.status) : 'failed')
      throw error
    }
    return reply
  }
  app.route({method: ['GET', 'HEAD', 'POST'], url: '/endpoints/:name/*', handler})
}

/** One request on its way to a target. */
class Passage {
  readonly #parts: Parts
  readonly #agent: Agent
  readonly #call: GatewayCall
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  /** Undefined where it is too large to be kept. */
  readonly #body: Buffer | undefined
  readonly #way: Way
  readonly #until: number
  readonly #tried = new Set<string>()
  #rounds = 0
  #breaks = 0

  constructor(
    parts: Parts,
    agent: Agent,
    call: GatewayCall,
    request: FastifyRequest,
    reply: FastifyReply,
    body: Buffer | void,
    way: Way,
  ) {
    this.#parts = parts
    this.#agent = agent
    this.#call = call
    this.#until = Date.now() + (call.isHealth ? 0 : PATIENCE_MS)
    this.#request = request
    this.#reply = reply
    this.#body = body ?? undefined
    this.#way = way
  }

  /** Sends it to the target whose turn it is, of the first release that has one it was not tried at. */
  async forward(): Promise<void> {
    if (this.#reply.sent) return this.#way.end('abandoned') // its key was revoked meanwhile
    const lanes = this.#way.lanes()
    if (lanes.length === 0)
      throw new Failure(503, 'ENDPOINT_FAILED', `endpoint ${this.#call.endpoint} has no active release`)
    for (const {release, targets} of lanes) {
      const fresh = targets.filter((target) => !this.#tried.has(target))
      const target = this.#parts.traffic.choose(`${this.#call.endpoint}/${release}`, fresh)
      if (target !== undefined) return this.#send(target, release)
    }
    if (Date.now() >= this.#until) {
      const message = `no model server of endpoint ${this.#call.endpoint} takes connections`
      throw new Failure(503, 'ENDPOINT_FAILED', message)
    }
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** this.#rounds++, LONGEST_PAUSE_MS))
    this.#tried.clear()
    if (this.#request.raw.destroyed && this.#reply.raw.destroyed) return this.#way.end('abandoned')
    return this.forward()
  }

  async #send(target: string, release: string): Promise<void> {
    const {traffic} = this.#parts
    const gone = new AbortController()
    let counted = true
    const end = (answered: boolean): void => {
      if (counted) traffic.end(target, answered)
      counted = false
    }
    traffic.begin(target)
    this.#way.enter(release)
    this.#tried.add(target)
    let status: number | undefined
    let kept: (() => Kept) | undefined
    // A reader that went away ends the work that was begun for it: tokens that nobody reads cost a GPU.
    const closed = (): void => {
      const isWhole = this.#reply.raw.writableFinished
      end(isWhole)
      this.#way.end(isWhole && status !== undefined ? outcomeOf(status) : 'abandoned')
      gone.abort()
      if (isWhole && kept) this.#copy(kept())
    }
    this.#reply.raw.once('close', closed)
    try {
      const answer = await this.#ask(target, gone.signal)
      if (answer.statusCode === 503 && answer.headers[FRONT_HEADER] !== undefined && target.startsWith('https:')) {
        discard(answer)
        throw Object.assign(new Error('the front has no server behind it'), {code: 'ECONNREFUSED'})
      }
      if (this.#call.isHealth) this.#tellHealth(answer)
      else {
        status = answer.statusCode
        answer.body.once('error', () => gone.signal.aborted || this.#way.end('failed'))
        const headers = {...backwardHeaders(answer.headers), [RELEASE_HEADER]: release}
        const tap = this.#isCopied() ? new Tap() : undefined
        if (tap) kept = () => keptOf(answer, tap.kept)
        this.#reply
          .code(status)
          .headers(headers)
          .send(tap ? pipeline(answer.body, tap, () => {}) : answer.body)
      }
    } catch (error) {
      if (gone.signal.aborted) return
      this.#reply.raw.removeListener('close', closed)
      end(false)
      await this.#again(error as Error)
    }
  }

  #ask(target: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const {method, headers} = this.#request
    const takesBody = method !== 'GET' && method !== 'HEAD'
    // What is too large to be kept is passed on as it comes (passBody).
    const body = takesBody ? (this.#body ?? (this.#request.body as Readable | undefined)) : undefined
    const timeout = this.#call.isHealth ? HEALTH_ANSWER_MS : ANSWER_MS
    const {host: _, ...onward} = onwardHeaders(headers, takesBody)
    return this.#agent.request({
      origin: new URL(target).origin,
      path: targetPath(target, this.#call, this.#request.url),
      method: method as Dispatcher.HttpMethod,
      signal,
      headers: {...onward, ...(body && {'content-type': contentTypeOf(this.#request)})},
      body: body ?? null,
      headersTimeout: timeout,
      bodyTimeout: timeout,
    })
  }

  #isCopied(): boolean {
    const isSmall = this.#body !== undefined && this.#body.length <= LARGEST_COPIED
    return isSmall && this.#request.method === 'POST' && this.#way.shadow() !== undefined
  }

  /** The same request to the release that answers nobody, now that it was answered. */
  #copy(real: Kept): void {
    const {traffic, measures, shadows} = this.#parts
    const {endpoint} = this.#call
    const canary = this.#way.shadow()
    if (!canary) return
    const ask = async (): Promise<Kept | undefined> => {
      const target = traffic.choose(`${endpoint}/${canary.release}`, canary.targets)
      if (target === undefined || this.#way.shadow()?.since !== canary.since) return undefined
      traffic.begin(target)
      const end = measures.begin(endpoint, canary.release)
      try {
        const answer = await this.#ask(target, AbortSignal.timeout(COPY_MS))
        const copy = keptOf(answer, await keep(answer.body))
        end(outcomeOf(copy.status))
        return copy
      } finally {
        end('failed') // unless it was answered
        traffic.end(target, true)
      }
    }
    shadows.offer({endpoint, since: canary.since, real, bytes: this.#body?.length ?? 0, ask})
  }

  /** The model's own word: its server may be well without it. */
  #tellHealth(answer: Dispatcher.ResponseData): void {
    const {statusCode} = answer
    discard(answer)
    if (statusCode === 200) {
      // The protocol has a word for each, and KServe's client reads it.
      const word = pathOf(this.#request.url).endsWith('/live') ? 'live' : 'ready'
      this.#reply.type('application/json').send(JSON.stringify({[word]: true}))
    } else {
      const message = `the model of endpoint ${this.#call.endpoint} is not ready (status ${statusCode})`
      this.#reply.send(new Failure(503, 'ENDPOINT_FAILED', message))
    }
  }

  /** Goes on to another target, where nothing can have been done twice by it. */
  async #again(error: Error): Promise<void> {
    const refused = failureOf(error)
    if (refused) throw refused
    const code = causeCode(error)
    const broke = isBroken(code)
    if (broke) this.#breaks++
    const may =
      this.#body !== undefined &&
      (isNotConnected(code) || (broke && this.#call.isRepeatable && this.#breaks <= MOST_BREAKS))
    if (may) return this.forward()
    const server = `the model server of endpoint ${this.#call.endpoint}`
    if (this.#call.isHealth) {
      throw new Failure(503, 'ENDPOINT_FAILED', `${server} does not answer (${code || error.message})`)
    }
    if (code === 'UND_ERR_HEADERS_TIMEOUT') {
      throw new Failure(504, 'TIMED_OUT', `${server} did not answer in ${ANSWER_MS / 1000} s`)
    }
    throw new Failure(502, 'ENDPOINT_FAILED', `${server} went away in mid-request (${code || error.message})`)
  }
}

function keptOf({statusCode, headers}: Dispatcher.ResponseData, body: Buffer | undefined): Kept {
  const type = headers['content-type']
  const isPlain = headers['content-encoding'] === undefined
  return {status: statusCode, type: Array.isArray(type) ? type[0] : type, body: isPlain ? body : undefined}
}

/** Not read to its end: it may have none. */
function discard({body}: Dispatcher.ResponseData): void {
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
