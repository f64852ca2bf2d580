import {connect as connectTcp, Socket} from 'node:net'
import type {Duplex, Readable} from 'node:stream'
import type {Client} from 'ssh2'
import {CliError, isOver, type Context} from '../base/index.ts'
import {chooseAlgorithms} from './algorithms.ts'
import type {Endpoint} from './config.ts'
import {Connection} from './connection.ts'
import {authenticationError, connectionError} from './connect-error.ts'
import {knownKeyTypes, verifyHostKey} from './host-key.ts'
import {collectIdentities, type Identities, type KeyRing} from './identity.ts'
import {Deadline, type Questions} from './questions.ts'
import {openProxyCommand} from './proxy-command.ts'
import type {FleetOptions} from './types.ts'

export interface Wiring {
  ctx: Context
  options: FleetOptions
  questions: Questions
  ring: KeyRing
  /** What a ProxyCommand has said in an attempt before is not told again. */
  told: Set<string>
  /** The connection to the hop before, where there is one. */
  via: Connection | undefined
  /** Aborted when nobody wants the connection any more. */
  signal: AbortSignal
  /**
   * Called where the server has said nothing for a while. Few connections begin at once because logging in takes
   * processor time here; waiting for a silent server takes none, so the next may begin: many of them are waited for at
   * the same time, not in turns.
   */
  onSilent(): void
}

/** Milliseconds after which a server that has not said a word counts as silent here; it is still waited for. */
const SILENT_MS = 2000
/** Milliseconds for one that was not to be there any more. */
const GONE_MS = 4000

/** OpenSSH's way of noticing a dead link: a question every 15 s, and three without an answer. */
const KEEPALIVE_MS = 15_000
const KEEPALIVE_COUNT = 3

/** A failed attempt: what to tell, and whether another attempt may do better. */
export class AttemptError extends Error {
  readonly reported: CliError
  readonly again: boolean

  constructor(reported: CliError, again: boolean) {
    super(reported.message)
    this.reported = reported
    this.again = again
  }
}

/** One attempt at one authenticated connection. Throws AttemptError, or CliError where trying again would be wrong. */
export async function attempt(endpoint: Endpoint, wiring: Wiring): Promise<Connection> {
  const timeout = Math.min(wiring.options.connectTimeout ?? 15_000, isOver(endpoint.until) ? GONE_MS : Infinity)
  const stop = new AbortController()
  const deadline = new Deadline(timeout, () =>
    stop.abort(connectionError(endpoint, {code: 'DEADLINE', seconds: timeout / 1000})),
  )
  const onAbort = (): void =>
    stop.abort(new CliError('INTERRUPTED', `interrupted while connecting to ${endpoint.label}`))
  if (wiring.signal.aborted) onAbort()
  wiring.signal.addEventListener('abort', onAbort, {once: true})
  let socket: Duplex | undefined
  const silent = setTimeout(() => {
    if (socket === undefined || (socket instanceof Socket && socket.bytesRead === 0)) wiring.onSilent()
  }, SILENT_MS)
  try {
    socket = await unlessAborted(
      wiring.via ? openVia(wiring.via, endpoint) : openItself(endpoint, wiring, stop.signal),
      stop.signal,
    )
    return await unlessAborted(authenticate(endpoint, socket, wiring, deadline, stop.signal), stop.signal)
  } catch (error) {
    socket?.destroy()
    if (stop.signal.aborted) throw stop.signal.reason
    // it lost patience while somebody was asked
    if (error instanceof AttemptError && deadline.requested) throw new AttemptError(error.reported, true)
    throw error
  } finally {
    deadline.stop()
    clearTimeout(silent)
    wiring.signal.removeEventListener('abort', onAbort)
  }
}

/** An agent or a jump host that never answers must not hold us. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, {once: true})
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

async function openVia(via: Connection, endpoint: Endpoint): Promise<Duplex> {
  try {
    return await via.openTcp(endpoint.host, endpoint.port, {host: '127.0.0.1', port: 0})
  } catch (error) {
    const cause = error as CliError
    throw new CliError('NODE_UNREACHABLE', `no connection to ${endpoint.label}: ${cause.message}`, {
      details: {...cause.details, node: endpoint.label},
      ...(cause.hint ? {hint: cause.hint} : {}),
      cause,
    })
  }
}

async function openItself(endpoint: Endpoint, {ctx, told}: Wiring, signal: AbortSignal): Promise<Duplex> {
  const {proxyCommand, label} = endpoint
  if (proxyCommand === undefined) return openDirect(endpoint, signal)
  return openProxyCommand(proxyCommand, ctx.env, (line) => {
    if (told.has(line)) return
    told.add(line)
    ctx.reporter.note(`${label}: ${line}`)
  })
}

function openDirect(endpoint: Endpoint, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // Node's default of 250 ms for each of several addresses is shorter than a round trip to the other side of the
    // world.
    const socket = connectTcp({
      host: endpoint.host,
      port: endpoint.port,
      noDelay: true,
      keepAlive: true,
      autoSelectFamilyAttemptTimeout: 3000,
      signal,
    })
    socket.once('connect', () => resolve(socket))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      reject(new AttemptError(connectionError(endpoint, error), isPassing(error))),
    )
  })
}

/** Refused, reset and unresolved may be over in a second: a machine that boots, a resolver that drops bursts. */
function isPassing(error: NodeJS.ErrnoException): boolean {
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EAI_AGAIN', 'ENOTFOUND'].includes(error.code ?? '')
}

async function authenticate(
  endpoint: Endpoint,
  socket: Duplex,
  wiring: Wiring,
  deadline: Deadline,
  stop: AbortSignal,
): Promise<Connection> {
  const {default: ssh2} = await import('ssh2')
  const known = await knownKeyTypes(endpoint)
  const identities = await collectIdentities(endpoint, wiring.ring, deadline)
  const early: NodeJS.ErrnoException | null = socket.errored
  if (socket.destroyed)
    throw new AttemptError(connectionError(endpoint, early ?? {message: 'it closed'}), early?.code !== 'ENOENT')
  const client: Client = new ssh2.Client()
  const connection = new Connection(endpoint.label, client, wiring.ctx)
  await new Promise<void>((resolve, reject) => {
    let verified = false
    let refused: Error | undefined
    let cause: (Error & {level?: string}) | undefined
    client.once('ready', resolve)
    client.on('error', (error: Error & {level?: string}) => {
      if (error.level !== 'agent') cause ??= error // one key of several; the next is tried
    })
    client.once('close', () => reject(refused ?? explain(endpoint, identities, verified, cause)))
    stop.addEventListener('abort', () => client.destroy(), {once: true})
    client.connect({
      keepaliveInterval: wiring.options.keepaliveInterval ?? KEEPALIVE_MS,
      keepaliveCountMax: KEEPALIVE_COUNT,
      // A channel of the hop before is a stream to ssh2 as good as a socket; its types want to read from it only.
      sock: socket as unknown as Readable,
      username: endpoint.user,
      strictVendor: false, // forwards to unix sockets are OpenSSH's, and other servers have them as well
      readyTimeout: 0, // ours stands still while a person is asked
      algorithms: chooseAlgorithms(known),
      authHandler: oneAgent(endpoint.user, identities) as never,
      hostVerifier: (key: Buffer, reply: (accepted: boolean) => void): void => {
        verifyHostKey(endpoint, key, wiring.options, wiring.questions, deadline).then(
          () => {
            verified = true
            reply(true)
          },
          (error: Error) => {
            refused = error
            reply(false)
          },
        )
      },
    })
  })
  return connection
}

function explain(
  endpoint: Endpoint,
  identities: Identities,
  verified: boolean,
  cause: (Error & {level?: string; code?: unknown}) | undefined,
): Error {
  const failure = identities.failure()
  if (failure) return failure
  // After the host key the only thing left to fail is logging in: also when the server hangs up after too many keys
  // (reason 2).
  if (cause?.level === 'client-authentication' || (verified && typeof cause?.code === 'number'))
    return authenticationError(endpoint, identities, cause)
  const reported = connectionError(endpoint, cause ?? {message: 'the server closed the connection'})
  return new AttemptError(
    reported,
    cause === undefined || cause.level === 'protocol' || (cause.level === 'client-socket' && cause.code !== 'ENOENT'),
  )
}

/** ssh2 asks for the next method until it is told false; all keys go through the one agent of ours. */
function oneAgent(username: string, identities: Identities): () => unknown {
  let given = false
  return () => {
    if (given) return false
    given = true
    return {type: 'agent', username, agent: identities.agent}
  }
}
