import type {Client, ClientChannel, ExecOptions as ChannelOptions} from 'ssh2'
import {CliError, type Context} from '../base/index.ts'
import {SessionQueue} from './session-queue.ts'

interface Dying {
  exit: Promise<unknown>
  kill: () => Promise<void>
}

/** One authenticated SSH connection: opens channels, counts sessions, tells everybody when it is lost. */
export class Connection {
  readonly node: string
  readonly client: Client
  readonly sessions: SessionQueue
  readonly closed: Promise<void>
  #lost: CliError | undefined
  readonly #dying = new Set<Dying>()
  readonly #listeners = new Set<(error: CliError) => void>()

  constructor(node: string, client: Client, ctx: Context) {
    this.node = node
    this.client = client
    this.sessions = new SessionQueue(node, ctx)
    let cause: Error | undefined
    client.on('error', (error) => {
      cause ??= error
    })
    this.closed = new Promise((resolve) => {
      client.once('close', () => {
        this.#lost = new CliError('NODE_UNREACHABLE', `the connection to ${node} was lost`, {
          details: {node, ...(cause ? {reason: cause.message} : {})},
          cause,
        })
        this.sessions.fail(this.#lost)
        for (const listener of [...this.#listeners]) listener(this.#lost)
        this.#listeners.clear()
        resolve()
      })
    })
  }

  /** The error, once the connection is gone. */
  get lost(): CliError | undefined {
    return this.#lost
  }

  /**
   * Calls back once when the connection is lost (at once if it is already); the returned function takes the listener
   * off.
   */
  onLost(listener: (error: CliError) => void): () => void {
    if (this.#lost) listener(this.#lost)
    else this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A session channel running `command`, waiting for its turn under the server's MaxSessions. */
  openSession(command: string, options: ChannelOptions, signal?: AbortSignal): Promise<ClientChannel> {
    return this.sessions.run(() => this.#request((done) => this.client.exec(command, options, done)), signal)
  }

  /** A TCP connection from the node to host:port. Throws NODE_UNREACHABLE or REFUSED. */
  async openTcp(host: string, port: number, from: {host: string; port: number}): Promise<ClientChannel> {
    return this.#open((done) => this.client.forwardOut(from.host, from.port, host, port, done), {
      to: `${host}:${port}`,
      setting: 'AllowTcpForwarding',
      details: {host, port},
    })
  }

  /** A connection to a unix socket of the node (direct-streamlocal@openssh.com). Throws NODE_UNREACHABLE or REFUSED. */
  async openUnix(path: string): Promise<ClientChannel> {
    return this.#open((done) => this.client.openssh_forwardOutStreamLocal(path, done), {
      to: path,
      setting: 'AllowStreamLocalForwarding',
      details: {path},
    })
  }

  async #open(
    ask: (done: (error: Error | undefined, channel: ClientChannel) => void) => void,
    {to, setting, details}: {to: string; setting: string; details: Record<string, unknown>},
  ): Promise<ClientChannel> {
    try {
      return await this.#request<ClientChannel>(ask)
    } catch (error) {
      if (this.#lost) throw this.#lost
      // RFC 4254, 5.1: 1 is "administratively prohibited", here that setting with no.
      const prohibited = (error as {reason?: unknown}).reason === 1
      throw new CliError(
        prohibited ? 'REFUSED' : 'NODE_UNREACHABLE',
        prohibited ? `${this.node} does not allow forwarding to ${to}` : `${this.node} cannot connect to ${to}`,
        {
          details: {node: this.node, ...details, reason: (error as Error).message},
          cause: error,
          ...(prohibited ? {hint: `set "${setting} yes" in the sshd_config of ${this.node}`} : {}),
        },
      )
    }
  }

  /** A process that was told to end; `finish` does not leave without it. */
  awaitEnd(process: Dying): void {
    this.#dying.add(process)
    process.exit.catch(() => {}).finally(() => this.#dying.delete(process))
  }

  /** Ends the connection, first what was told to end on it; what does not go soon is cut. */
  async finish(patience: number): Promise<void> {
    if (this.#dying.size > 0) {
      await within(patience, Promise.allSettled([...this.#dying].map((one) => one.exit)))
      await within(patience, Promise.allSettled([...this.#dying].map((one) => one.kill())))
    }
    this.client.end()
    await within(patience, this.closed)
    if (!this.#lost) this.client.destroy()
  }

  /**
   * ssh2 throws when the socket is gone and calls back otherwise; and a lost connection must not leave anybody waiting.
   */
  #request<T>(ask: (done: (error: Error | undefined, value: T) => void) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const off = this.onLost(reject)
      try {
        ask((error, value) => {
          off()
          if (error) reject(this.#lost ?? error)
          else resolve(value)
        })
      } catch (error) {
        off()
        reject(
          this.#lost ??
            new CliError('NODE_UNREACHABLE', `the connection to ${this.node} is closed`, {
              details: {node: this.node},
              cause: error,
            }),
        )
      }
    })
  }
}

/** Waits for something, but not longer than so many milliseconds. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)))])
  clearTimeout(timer)
}
