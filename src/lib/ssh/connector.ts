import {readFile} from 'node:fs/promises'
import type {Client} from 'ssh2'
import {CliError, type Context} from '../base/index.ts'
import {chooseAlgorithms} from './algorithms.ts'
import {resolveTarget, type Endpoint} from './config.ts'
import {Connection} from './connection.ts'
import {checkHostKey, entriesFor, knownHostsName, readKnownHosts} from './known-hosts.ts'
import {Slots} from './parallel.ts'
import type {FleetOptions, SshTarget} from './types.ts'

/** Makes connections, a few at a time. */
export class Connector {
  readonly #ctx: Context
  readonly #starts: Slots
  readonly #open = new Set<Connection>()

  constructor(ctx: Context, options: FleetOptions) {
    this.#ctx = ctx
    this.#starts = new Slots(options.parallelStarts ?? 16)
  }

  async connect(target: SshTarget): Promise<Connection> {
    const endpoint = await resolveTarget(target, this.#ctx.env)
    const release = await this.#starts.take()
    try {
      const connection = await this.#handshake(endpoint)
      this.#open.add(connection)
      connection.onLost(() => this.#open.delete(connection))
      return connection
    } finally {
      release()
    }
  }

  async close(): Promise<void> {
    for (const connection of this.#open) connection.end()
  }

  async #handshake(endpoint: Endpoint): Promise<Connection> {
    const {default: ssh2} = await import('ssh2')
    const client: Client = new ssh2.Client()
    const name = knownHostsName(endpoint.host, endpoint.port)
    const entries = await readKnownHosts(endpoint.knownHostsFiles)
    const connection = new Connection(endpoint.node, client, this.#ctx)
    const privateKey = await readFile(endpoint.identityFiles[0] as string)
    await new Promise<void>((resolve, reject) => {
      client.once('ready', resolve)
      client.once('error', (error) => reject(new CliError('NODE_UNREACHABLE', `no connection to ${endpoint.node}: ${error.message}`, {cause: error})))
      client.connect({
        host: endpoint.host, port: endpoint.port, username: endpoint.user, privateKey,
        algorithms: chooseAlgorithms(new Set(entriesFor(entries, name).map((entry) => entry.keyType))),
        keepaliveInterval: 15_000, keepaliveCountMax: 3,
        hostVerifier: (key: Buffer) => checkHostKey(entries, name, key).verdict === 'known',
      })
    })
    return connection
  }
}
