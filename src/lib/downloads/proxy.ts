import {createHash, timingSafeEqual} from 'node:crypto'
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type {Socket} from 'node:net'
import {pipeline, type Duplex} from 'node:stream'
import {BUNDLE_HOST, serveBundled} from './bundled.ts'
import type {NamedHosts} from './named-hosts.ts'
import {answerTracker, TRACKER_HOST, type Peer} from './tracker.ts'
import {
  connectThrough,
  connectTo,
  patiently,
  PrivateAddress,
  proxyFor,
  proxyHeader,
  type Destination,
} from './upstream.ts'

export interface ProxyOptions {
  secret: string
  hosts: NamedHosts
  /** For proxies of this machine's own. */
  env: NodeJS.ProcessEnv
  /** pip's setting of the same. */
  proxySetting?: string
  /** Whether it has the wheels of bundles that were applied here, by the name BUNDLE_HOST. */
  bundled?: boolean
  /** The node, where several download the same. */
  peer?: Peer
  /** Milliseconds; the defaults are HEAD_MS and IDLE_MS. */
  headMs?: number
  idleMs?: number
}

/** How long a connection may be there without a whole request, and how long nothing may pass. */
const HEAD_MS = 15_000
const IDLE_MS = 120_000
/** uv has up to 50 downloads at once. */
const MAX_PROVEN = 128
/** Who has not shown the secret: the oldest gives way. */
const MAX_PENDING = 32
const HEAD_BYTES = 16_384
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** An HTTP proxy (CONNECT, and plain requests) to named hosts. It listens nowhere: connections are given to it. */
export class DownloadProxy {
  /** `host:port` that was asked for and is not named, or whose address is private. */
  readonly refused = new Set<string>()
  /** `host:port` that could not be reached from here when it was last asked for, and why. */
  readonly unreachable = new Map<string, string>()
  readonly #options: ProxyOptions
  readonly #server: Server
  readonly #open = new Set<Duplex>()
  readonly #pending = new Map<Duplex, NodeJS.Timeout>()
  #closed = false

  constructor(options: ProxyOptions) {
    this.#options = options
    this.#server = createServer({maxHeaderSize: HEAD_BYTES, keepAlive: false})
    this.#server.on(
      'request',
      (request, response) => void this.#forward(request, response).catch(() => response.destroy()),
    )
    this.#server.on(
      'connect',
      (request: IncomingMessage, stream: Duplex, head: Buffer) =>
        void this.#tunnel(request, stream, head).catch(() => stream.destroy()),
    )
    this.#server.on('clientError', (_error, stream) => stream.destroy())
    this.#server.on('upgrade', (_request, stream) => stream.destroy())
  }

  take(stream: Duplex): void {
    stream.setMaxListeners(30) // the server, this proxy, and both directions of a tunnel
    stream.on('error', () => {})
    stream.once('close', () => {
      this.#open.delete(stream)
      this.#settle(stream)
    })
    if (this.#closed) return void stream.destroy()
    this.#open.add(stream)
    this.#wait(stream)
    this.#server.emit('connection', stream)
  }

  close(): void {
    this.#closed = true
    for (const stream of [...this.#open]) stream.destroy()
  }

  #wait(stream: Duplex): void {
    if (this.#pending.size >= MAX_PENDING) this.#pending.keys().next().value?.destroy()
    const timer = setTimeout(() => stream.destroy(), this.#options.headMs ?? HEAD_MS)
    this.#pending.set(stream, timer)
  }

  #settle(stream: Duplex): void {
    clearTimeout(this.#pending.get(stream))
    this.#pending.delete(stream)
  }

  /** What stands in the way, as a status. The secret first: who does not have it learns nothing. */
  #refusal(
    headers: IncomingHttpHeaders,
    stream: Duplex,
    to: {host: string; port: number} | undefined,
  ): [number, string] | Destination {
    if (!this.#isProven(headers['proxy-authorization'])) return [407, 'this proxy is for the command that opened it']
    this.#settle(stream)
    if (this.#open.size - this.#pending.size > MAX_PROVEN) return [503, 'too many connections']
    if (!to) return [400, 'no host and port']
    const trust = this.#options.hosts.trustOf(to.host, to.port)
    if (!trust) {
      this.refused.add(`${to.host}:${to.port}`)
      return [403, `${to.host}:${to.port} is not a host that the settings name`]
    }
    return {...to, mayBePrivate: trust === 'any'}
  }

  #isProven(header: string | undefined): boolean {
    const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
    return timingSafeEqual(
      hash(header ?? ''),
      hash(`Basic ${Buffer.from(`flexrack:${this.#options.secret}`).toString('base64')}`),
    )
  }

  async #tunnel({headers, url}: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const to = this.#refusal(headers, stream, authority(url ?? ''))
    if (Array.isArray(to)) return answer(stream, ...to)
    const far = await this.#reach(to, 'https')
    if (Array.isArray(far)) return answer(stream, ...far)
    if (stream.destroyed) return void far.destroy()
    stream.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) far.write(head)
    far.setTimeout(this.#options.idleMs ?? IDLE_MS, () => far.destroy())
    pipeline(stream, far, () => {})
    pipeline(far, stream, () => stream.destroy())
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const {socket: stream, headers, url = '', method} = request
    const target = /^http:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined
    const isGiven = this.#options.bundled || (this.#options.peer && target?.pathname.startsWith('/uv/'))
    if (isGiven && target?.host === BUNDLE_HOST && this.#isProven(headers['proxy-authorization'])) {
      this.#settle(stream)
      return serveBundled(request, response, target.pathname, this.#options.env)
    }
    const {peer} = this.#options
    if (peer && target?.host === TRACKER_HOST && this.#isProven(headers['proxy-authorization'])) {
      this.#settle(stream)
      return answerTracker(peer, target, response)
    }
    const to = this.#refusal(
      headers,
      stream,
      target && {host: target.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(target.port || 80)},
    )
    const far = Array.isArray(to) ? to : await this.#reach(to, 'http')
    if (Array.isArray(far) || !target || Array.isArray(to)) {
      const [status, text] = Array.isArray(far) ? far : ([400, 'no host and port'] as const)
      response
        .writeHead(status, {
          'content-type': 'text/plain',
          connection: 'close',
          ...(status === 407 && {'proxy-authenticate': 'Basic realm="flexrack"'}),
        })
        .end(`${text}\n`)
      return
    }
    const proxy = this.#proxyFor(to, 'http')
    const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)))
    const onward = httpRequest({
      createConnection: () => far,
      method,
      path: proxy ? target.href : `${target.pathname}${target.search}`,
      headers: {...kept, host: target.host, connection: 'close', ...(proxy && proxyHeader(proxy))},
      timeout: this.#options.idleMs ?? IDLE_MS,
    })
    onward.on('timeout', () => onward.destroy())
    onward.on('error', () =>
      response.headersSent ? response.destroy() : response.writeHead(502, {connection: 'close'}).end(),
    )
    response.on('close', () => onward.destroy())
    onward.on('response', (back) => {
      response.writeHead(back.statusCode ?? 502, {
        ...Object.fromEntries(Object.entries(back.headers).filter(([name]) => !HOP_BY_HOP.includes(name))),
        connection: 'close',
      })
      pipeline(back, response, () => {})
    })
    request.pipe(onward)
  }

  #proxyFor(to: Destination, protocol: 'http' | 'https'): URL | undefined {
    return proxyFor(to, protocol, this.#options.env, this.#options.proxySetting)
  }

  async #reach(to: Destination, protocol: 'http' | 'https'): Promise<Socket | [number, string]> {
    const proxy = this.#proxyFor(to, protocol)
    try {
      const socket = await patiently(() =>
        !proxy
          ? connectTo(to)
          : protocol === 'https'
            ? connectThrough(proxy, to)
            : connectTo({host: proxy.hostname, port: Number(proxy.port || 80), mayBePrivate: true}),
      )
      socket.on('error', () => {})
      this.unreachable.delete(`${to.host}:${to.port}`)
      return socket
    } catch (error) {
      const name = `${to.host}:${to.port}`
      if (error instanceof PrivateAddress) {
        this.refused.add(name)
        return [403, error.message]
      }
      this.unreachable.set(name, (error as Error).message)
      return [502, `${name} cannot be reached`]
    }
  }
}

function authority(text: string): {host: string; port: number} | undefined {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text)
  return found ? {host: (found[1] ?? found[2]) as string, port: Number(found[3])} : undefined
}

function answer(stream: Duplex, status: number, text: string): void {
  const more = status === 407 ? 'Proxy-Authenticate: Basic realm="flexrack"\r\n' : ''
  stream.end(
    `HTTP/1.1 ${status} ${status === 407 ? 'Proxy Authentication Required' : 'Refused'}\r\n${more}Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text) + 1}\r\nConnection: close\r\n\r\n${text}\n`,
  )
}
