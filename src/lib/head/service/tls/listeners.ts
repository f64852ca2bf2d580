import {createServer, type RequestListener, type Server} from 'node:http'
import type {Server as SecureServer} from 'node:https'
import type {AddressInfo, ListenOptions} from 'node:net'
import {setTimeout as pause} from 'node:timers/promises'
import type {FastifyInstance, FastifyListenOptions} from 'fastify'
import type {ListenerRecord} from '../../../protocol/index.ts'
import type {ServiceConfig} from '../../types.ts'
import type {Grpc} from '../grpc/server.ts'
import {tune} from '../server.ts'
import {logLine} from '../log.ts'
import {ownNames} from './names.ts'
import type {PendingConnections} from '../limits/pending-connections.ts'
import type {Identity} from './certificates.ts'
import type {Issuer} from './issuer.ts'

const PORT_PATIENCE_MS = 5000
const LISTEN_PAUSE_MS = 200
const RENEW_LOOK_MS = 6 * 3_600_000
const LOOPBACK = '127.0.0.1'

/**
 * Where the head listens: with TLS on `config.bind` (from the rack file, or found by route), and without it on
 * loopback, at a port of its own. Everybody who carries a token of ours speaks TLS, on loopback, too: while the head is
 * down another user of the machine may take its port. The plain one is for the programs of who sits on the machine.
 */
export class Listeners {
  readonly #app: FastifyInstance
  readonly #plain: Server
  readonly #grpc: Grpc
  #renewing: NodeJS.Timeout | undefined

  constructor(
    {app, listener}: {app: FastifyInstance; listener: RequestListener},
    pending: PendingConnections,
    grpc: Grpc,
  ) {
    this.#app = app
    this.#grpc = grpc
    grpc.attach(app.server as unknown as SecureServer)
    this.#plain = createServer(listener)
    tune(this.#plain, pending)
  }

  /**
   * Listens: where its supervisor does already, else on the ports of the last start where that can be. Errors: EADDRINUSE
   * for a port of the rack file that stays taken.
   */
  async open(config: ServiceConfig, last: Partial<ListenerRecord>): Promise<{port: number; plainPort: number}> {
    const [fd, plainFd] = givenSockets()
    if (fd !== undefined && plainFd !== undefined) {
      const inherited = {fd, host: config.bind} // Node.js takes the first; Fastify has no type for it
      await this.#app.listen(inherited as FastifyListenOptions)
      await listening(this.#plain, {fd: plainFd})
      return {port: portOf(this.#app.server), plainPort: portOf(this.#plain)}
    }
    const port = await listen(
      async (at) => void (await this.#app.listen({host: config.bind, port: at})),
      config.port || undefined,
      last.port ?? 0,
    )
    const plainPort = await listen(
      (at) => listening(this.#plain, {host: LOOPBACK, port: at}),
      undefined,
      last.plainPort ?? 0,
    )
    return {port: port || portOf(this.#app.server), plainPort: plainPort || portOf(this.#plain)}
  }

  /** Has the certificate renewed before it ends, for as long as the head listens. */
  keepCertified(authority: Issuer, config: ServiceConfig): void {
    const look = (): void => {
      authority.leaf('listener', {name: 'flexrack head', names: ownNames(config), usage: 'server'}).then(
        (identity) => this.show(identity),
        (error: Error) => logLine(`the certificate was not looked at: ${error.message}`),
      )
    }
    this.#renewing = setInterval(look, RENEW_LOOK_MS)
    this.#renewing.unref()
  }

  /** The next connection is shown this certificate. */
  show({key, certificate}: Identity): void {
    const server = this.#app.server as unknown as SecureServer
    server.setSecureContext({key, cert: certificate})
  }

  /** Takes no more connections and ends once what is under way has been answered. */
  async close(): Promise<void> {
    clearInterval(this.#renewing)
    const idle = setInterval(() => this.#plain.closeIdleConnections(), LISTEN_PAUSE_MS)
    await this.#grpc.close()
    // It comes first: what goes on there needs the connections that the server closes with itself.
    await new Promise<void>((resolve) => this.#plain.close(() => resolve()))
    clearInterval(idle)
    await this.#app.close()
  }

  /** Ends what is under way. */
  cut(): void {
    this.#grpc.cut()
    this.#plain.closeAllConnections()
    this.#app.server.closeAllConnections()
  }
}

/**
 * On the wanted port, or else on that of the last start, which runs under way know. One that was left by a head that is
 * just ending comes free in a moment; where another program has it by now, any port is better than none. Gives the port
 * that was asked for, which may be 0.
 */
async function listen(
  attempt: (port: number) => Promise<void>,
  wanted: number | undefined,
  last: number,
): Promise<number> {
  const until = Date.now() + PORT_PATIENCE_MS
  for (let port = wanted ?? last; ;) {
    try {
      await attempt(port)
      return port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      if (Date.now() < until) await pause(LISTEN_PAUSE_MS)
      else if (wanted !== undefined) throw error
      else {
        logLine(`port ${last} is in use by another program: taking another port`)
        port = 0
      }
    }
  }
}

/** Sockets that the supervisor keeps while this process is started again (node: service/sockets.py); not for its children. */
function givenSockets(): number[] {
  const given = process.env.FLEXRACK_SOCKETS
  delete process.env.FLEXRACK_SOCKETS
  return /^\d+(,\d+)*$/.test(given ?? '') ? given!.split(',').map(Number) : []
}

function listening(server: Server, where: ListenOptions | {fd: number}): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => (server.off('error', reject), resolve()))
  })
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
