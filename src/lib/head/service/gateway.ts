import {setTimeout as pause} from 'node:timers/promises'
import replyFrom from '@fastify/reply-from'
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {readBody, requireSize} from './body.ts'
import {Failure} from './failure.ts'
import type {Parts} from './parts.ts'
import {pathOf} from './path.ts'

/** A body up to this size is kept, so that the request can go to another target; a larger one is streamed once. */
const KEPT_BYTES = 32 * 1024 * 1024
const LARGEST_BODY = 4 * 1024 ** 3
const ANSWER_MS = 300_000
/** How long a request waits for a target that takes connections, over a restart or a switch. */
const PATIENCE_MS = 15_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000
/** A request during which a target's connection broke is sent once more: inference changes nothing. Not again, as it may be the cause. */
const MOST_BREAKS = 1

const NOT_CONNECTED = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL'])
const BROKEN = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])

/** /endpoints/<name>/v2/…: one stable address in front of the active release's targets. */
export async function addGateway(app: FastifyInstance, parts: Parts): Promise<void> {
  await app.register(replyFrom, {
    undici: {connect: {timeout: 2000}, connections: 128, keepAliveTimeout: 2000},
    disableRequestLogging: true,
    disableCache: true,
    retryMethods: [],
    destroyAgent: true,
  })
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const {name} = request.params as {name: string}
    if (!parts.endpoints.find(name)) throw new Failure(404, 'NOT_FOUND', `no endpoint ${name}`)
    requireSize(request, LARGEST_BODY)
    const keeps = request.body === undefined || Number(request.headers['content-length'] ?? 0) <= KEPT_BYTES
    const body = keeps ? await readBody(request, KEPT_BYTES) : undefined
    await new Passage(parts, name, request, reply, body).forward()
    return reply
  }
  for (const url of ['/endpoints/:name/v2', '/endpoints/:name/v2/*']) app.route({method: ['GET', 'HEAD', 'POST'], url, handler})
}

/** One request on its way to a target. */
class Passage {
  readonly #parts: Parts
  readonly #name: string
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  /** Undefined where it is too large to be kept. */
  readonly #body: Buffer | undefined
  readonly #until = Date.now() + PATIENCE_MS
  readonly #tried = new Set<string>()
  #rounds = 0
  #breaks = 0

  constructor(parts: Parts, name: string, request: FastifyRequest, reply: FastifyReply, body: Buffer | undefined) {
    this.#parts = parts
    this.#name = name
    this.#request = request
    this.#reply = reply
    this.#body = body
  }

  /** Sends it to the target whose turn it is. The targets are read anew each time: a switch in between counts. */
  async forward(): Promise<void> {
    const targets = this.#parts.endpoints.find(this.#name)?.document.active?.targets ?? []
    if (targets.length === 0) throw new Failure(503, 'ENDPOINT_FAILED', `endpoint ${this.#name} has no active release`)
    const fresh = targets.filter((target) => !this.#tried.has(target))
    if (fresh.length === 0) {
      if (Date.now() > this.#until) throw new Failure(503, 'ENDPOINT_FAILED', `no model server of endpoint ${this.#name} takes connections`)
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** this.#rounds++, LONGEST_PAUSE_MS))
      this.#tried.clear()
      if (this.#request.raw.destroyed && this.#reply.raw.destroyed) return
      return this.forward()
    }
    this.#send(this.#parts.traffic.choose(this.#name, fresh)!)
  }

  #send(target: string): void {
    const {traffic} = this.#parts
    let counted = true
    const end = (answered: boolean): void => {
      if (counted) traffic.end(target, answered)
      counted = false
    }
    traffic.begin(target)
    this.#tried.add(target)
    const closed = (): void => end(this.#reply.raw.writableFinished)
    this.#reply.raw.once('close', closed)
    const {method} = this.#request
    const sends = this.#body !== undefined && method !== 'GET' && method !== 'HEAD'
    this.#reply.from(targetUrl(target, this.#request.url), {
      ...(sends && {body: this.#body, contentType: contentTypeOf(this.#request)}),
      timeout: ANSWER_MS,
      rewriteRequestHeaders: (_request, headers) => withoutSecrets(headers),
      onError: (_reply, {error}) => {
        this.#reply.raw.removeListener('close', closed)
        end(false)
        this.#again(error).catch((failure: Error) => this.#reply.send(failure))
      },
    })
  }

  /** Goes on to another target, where nothing can have been done twice by it. */
  async #again(error: Error): Promise<void> {
    const code = causeCode(error)
    const isBroken = BROKEN.has(code)
    if (isBroken) this.#breaks++
    const may = this.#body !== undefined && (NOT_CONNECTED.has(code) || (isBroken && this.#breaks <= MOST_BREAKS))
    if (may) return this.forward()
    if (code === 'UND_ERR_HEADERS_TIMEOUT') throw new Failure(504, 'TIMED_OUT', `the model server of endpoint ${this.#name} did not answer in ${ANSWER_MS / 1000} s`)
    throw new Failure(502, 'ENDPOINT_FAILED', `the model server of endpoint ${this.#name} went away in mid-request (${code || error.message})`)
  }
}

/** Model servers insist on JSON being called so; a bare `curl -d` calls it a form. */
function contentTypeOf(request: FastifyRequest): string {
  const given = request.headers['content-type']
  return given === undefined || given.startsWith('application/x-www-form-urlencoded') ? 'application/json' : given
}

function targetUrl(target: string, url: string): string {
  const rest = pathOf(url).replace(/^\/endpoints\/[^/]+/, '')
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : ''
  return `${target.replace(/\/$/, '')}${rest}${query}`
}

function withoutSecrets(headers: Record<string, unknown>): Record<string, string> {
  const {authorization: _token, cookie: _cookie, expect: _expect, ...rest} = headers
  return rest as Record<string, string>
}

function causeCode(error: unknown): string {
  let code = ''
  for (let at = error; at instanceof Error; at = at.cause) code = (at as NodeJS.ErrnoException).code ?? code
  return code
}
