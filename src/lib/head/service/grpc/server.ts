import {createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream} from 'node:http2'
import type {Server as SecureServer} from 'node:https'
import type {TLSSocket} from 'node:tls'
import {tokenRefused} from '../failure.ts'
import {logLine} from '../log.ts'
import type {Parts} from '../parts.ts'
import {RELEASE_HEADER} from '../releases/way.ts'
import type {Caller} from '../tokens/token-kinds.ts'
import {methodsOf, type Method} from './calls.ts'
import {messagesOf, writeMessage} from './frames.ts'
import {metadataOf} from './metadata.ts'
import {sizeOf} from './messages.ts'
import {Onward} from './onward.ts'
import {CODES, Status, timeoutOf, trailersOf} from './status.ts'

const SERVICE = '/inference.GRPCInferenceService/'
const MIB = 1024 ** 2
/** What a caller may send ahead; before it has shown a token, what HTTP/2 begins with (64 KiB). */
const AHEAD = 16 * MIB
const SILENCE_MS = 300_000
const MOST_STREAMS = 256
/** How long a caller that was answered may go on sending. */
const LINGER_MS = 1000

/**
 * The Open Inference Protocol over gRPC, for endpoints: HTTP/2 on the head's TLS port, chosen in the handshake. Each
 * call becomes one of the gateway over HTTP.
 */
export class Grpc {
  readonly #parts: Parts
  readonly #onward: Onward
  readonly #methods: Record<string, Method>
  readonly #sessions = new Set<ServerHttp2Session>()
  #isClosing = false

  /** `plainUrl`: where the head listens without TLS. */
  constructor(parts: Parts, plainUrl: () => string) {
    this.#parts = parts
    this.#onward = new Onward(plainUrl)
    this.#methods = methodsOf(this.#onward, parts.config.version)
  }

  /** Takes the connections of a server that chose HTTP/2 in their handshake (chooseProtocol). */
  attach(secure: SecureServer): void {
    const server = createServer({
      maxSessionMemory: 512,
      settings: {initialWindowSize: 4 * MIB, maxConcurrentStreams: MOST_STREAMS, maxHeaderListSize: 32 * 1024},
    })
    const [http] = secure.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
    secure.removeListener('secureConnection', http!)
    secure.on('secureConnection', (socket) => {
      if (socket.alpnProtocol !== 'h2') return http!.call(secure, socket)
      server.emit('connection', socket)
    })
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.setTimeout(SILENCE_MS, () => session.close())
      session.once('close', () => this.#sessions.delete(session)).on('error', () => {})
      if (this.#isClosing) session.close()
    })
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      void this.#answer(stream, headers)
    })
    server.on('sessionError', () => {})
  }

  /** Takes no more calls, and ends once those under way are answered. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all(
      [...this.#sessions].map(
        (session) =>
          new Promise<void>((resolve) => {
            if (session.destroyed) return resolve()
            session.once('close', () => resolve())
            session.close()
          }),
      ),
    )
    this.#onward.close()
  }

  /** Ends what is under way. */
  cut(): void {
    for (const session of this.#sessions) session.destroy()
  }

  async #answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const ended = new AbortController()
    const ends: (() => void)[] = []
    let isOpen = false
    let reason: Status | undefined
    const stop = (status: Status): void => {
      reason ??= status
      ended.abort()
    }
    stream.once('close', () => stop(new Status(CODES.cancelled, 'the caller went away')))
    try {
      const {method, isStreamed} = this.#methodOf(headers)
      const {caller, authorization} = this.#identify(stream, headers)
      // As over HTTP: also for open streams.
      if (caller.kind === 'endpoint') ends.push(this.#parts.clients.watch(caller, () => stop(refusal())))
      const timeout = timeoutOf(headers['grpc-timeout'])
      const deadline = timeout === undefined ? undefined : performance.now() + timeout
      if (timeout !== undefined) {
        const timer = setTimeout(() => stop(new Status(CODES.deadline, 'the deadline of the call is over')), timeout)
        ends.push(() => clearTimeout(timer))
      }
      const {limits} = this.#parts
      const budget = limits.buffers
      const [hold, more] = [0, 1].map(() => budget.open('id' in caller ? caller.id : undefined))
      let count = 0
      let release: string | undefined
      const call = {
        caller,
        authorization,
        signal: ended.signal,
        deadline,
        hold: more!,
        metadata: metadataOf(headers),
        tell: (one: string) => void (release ??= one),
      }
      const pass = async (): Promise<void> => {
        for await (const message of messagesOf(stream, String(headers['grpc-encoding'] ?? ''), hold!, limits)) {
          if (count++ > 0 && !isStreamed) throw new Status(CODES.invalid, 'there is more than one message')
          const pieces = await method(message, call)
          if (ended.signal.aborted) return
          if (!isOpen) respond(stream, release)
          isOpen = true
          await writeMessage(stream, pieces, sizeOf(pieces))
          more!.release()
        }
        if (count === 0 && !isStreamed) throw new Status(CODES.invalid, 'there is no message')
      }
      const work = (): Promise<void> => pass().finally(() => more!.release())
      await Promise.race([work(), aborted(ended.signal)])
      if (reason) throw reason
      finish(stream, isOpen, new Status(CODES.ok, ''))
    } catch (error) {
      finish(stream, isOpen, reason ?? statusOf(error))
    } finally {
      for (const end of ends) end()
    }
  }

  #methodOf(headers: IncomingHttpHeaders): {method: Method; isStreamed: boolean} {
    const path = String(headers[':path'])
    const name = path.startsWith(SERVICE) ? path.slice(SERVICE.length) : ''
    if (headers[':method'] !== 'POST' || !String(headers['content-type']).startsWith('application/grpc'))
      throw new Status(CODES.unimplemented, 'only gRPC is spoken over HTTP/2')
    if (!Object.hasOwn(this.#methods, name))
      throw new Status(
        CODES.unimplemented,
        `endpoints answer ${Object.keys(this.#methods).join(', ')} of ${SERVICE.slice(1, -1)}, not ${path}`,
      )
    return {method: this.#methods[name]!, isStreamed: name === 'ModelStreamInfer'}
  }

  /** Nothing of a call is read before. */
  #identify(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): {caller: Caller; authorization: string} {
    const authorization = headers.authorization ?? ''
    const token = /^Bearer ([\w.-]+)$/i.exec(authorization)?.[1]
    const caller = token === undefined ? undefined : this.#parts.tokens.check(token)
    if (token === undefined)
      throw new Status(CODES.unauthenticated, 'a token is needed, as metadata: authorization: Bearer <token>')
    if (!caller || caller.kind === 'session') throw refusal()
    if (caller.kind !== 'admin' && caller.kind !== 'endpoint')
      throw new Status(CODES.denied, `a token of kind ${caller.kind} opens no endpoint`)
    const {session} = stream
    if (session && !session.destroyed) {
      this.#parts.pending.know(session.socket)
      session.setLocalWindowSize(AHEAD)
    }
    return {caller, authorization}
  }
}

/**
 * For a handshake: HTTP/2 is for callers that speak nothing else, as gRPC's do. Browsers and curl, which offer both,
 * get what the rest of the head speaks.
 */
export function chooseProtocol({protocols}: {protocols: string[]}): string | undefined {
  return ['http/1.1', 'h2'].find((one) => protocols.includes(one))
}

function refusal(): Status {
  return Status.ofHttp(401, tokenRefused().message)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), {once: true})
  })
}

const OPENING = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-accept-encoding': 'identity,deflate,gzip',
}

/** With the release that gave its first answer. */
function respond(stream: ServerHttp2Stream, release: string | undefined): void {
  if (stream.destroyed || stream.closed) return
  stream.respond({...OPENING, ...(release !== undefined && {[RELEASE_HEADER]: release})}, {waitForTrailers: true})
}

/** What the caller still sends is for nobody. */
function finish(stream: ServerHttp2Stream, isOpen: boolean, status: Status): void {
  if (stream.destroyed || stream.closed) return
  const trailers = trailersOf(status)
  if (isOpen) {
    stream.once('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end()
  } else {
    stream.respond({...OPENING, ...trailers}, {endStream: true})
  }
  stream.resume()
  // At once it would overtake the trailers.
  const timer = setTimeout(() => stream.close(0), LINGER_MS)
  stream.once('close', () => clearTimeout(timer))
}

function statusOf(error: unknown): Status {
  if (error instanceof Status) return error
  logLine(`gRPC: ${(error as Error).message}`)
  return new Status(CODES.internal, 'the call could not be answered')
}
