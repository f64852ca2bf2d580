import {setTimeout as sleep} from 'node:timers/promises'
import {CliError, isOver, type Context} from '../base/index.ts'
import {resolveTarget, type Endpoint} from './config.ts'
import type {Connection} from './connection.ts'
import {attempt, AttemptError} from './handshake.ts'
import {KeyRing} from './identity.ts'
import {Slots} from './parallel.ts'
import {Questions} from './questions.ts'
import type {FleetOptions, SshTarget} from './types.ts'

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 300
const FAREWELL_MS = 1500

/** Makes connections, a few at a time, again where that may help, and by way of jump hosts, which are shared. */
export class Connector {
  readonly #ctx: Context
  readonly #options: FleetOptions
  readonly #questions = new Questions()
  readonly #ring: KeyRing
  readonly #starts: Slots
  readonly #open = new Set<Connection>()
  readonly #jumps = new Map<string, Promise<Connection>>()
  readonly #closing = new AbortController()

  constructor(ctx: Context, options: FleetOptions) {
    this.#ctx = ctx
    this.#options = options
    this.#ring = new KeyRing(options, this.#questions)
    this.#starts = new Slots(options.parallelStarts ?? 16)
  }

  /**
   * A new connection to a target. Errors: NODE_UNREACHABLE, AUTH_FAILED, HOST_KEY_UNKNOWN, HOST_KEY_CHANGED,
   * INTERRUPTED.
   */
  async connect(target: SshTarget): Promise<Connection> {
    return this.#reach(await resolveTarget(target, this.#ctx.env))
  }

  /** Ends everything; what does not end by itself soon is cut. */
  async close(): Promise<void> {
    this.#closing.abort()
    // Jump hosts last: the others go through them.
    const jumps = new Set(
      (await Promise.allSettled(this.#jumps.values())).map((one) =>
        one.status === 'fulfilled' ? one.value : undefined,
      ),
    )
    await Promise.all([...this.#open].filter((one) => !jumps.has(one)).map((one) => one.finish(FAREWELL_MS)))
    await Promise.all([...this.#open].map((one) => one.finish(FAREWELL_MS)))
  }

  async #reach(endpoint: Endpoint): Promise<Connection> {
    const via = endpoint.jump ? await this.#jump(endpoint.jump) : undefined
    // Taken only now: targets that wait for their jump host must not keep it from starting.
    const release = await this.#starts.take()
    try {
      const connection = await this.#persist(endpoint, via, release)
      this.#open.add(connection)
      connection.onLost(() => this.#open.delete(connection))
      return connection
    } finally {
      release()
    }
  }

  /** One connection for all that go through the same hop. */
  #jump(endpoint: Endpoint): Promise<Connection> {
    const key = JSON.stringify([endpoint.user, endpoint.host, endpoint.port, endpoint.identityFiles, hops(endpoint)])
    let connection = this.#jumps.get(key)
    if (!connection) {
      connection = this.#reach(endpoint)
      this.#jumps.set(key, connection)
      const forget = (): boolean => this.#jumps.delete(key)
      connection.then((made) => made.onLost(forget), forget)
    }
    return connection
  }

  /** `onSilent`: see Wiring. */
  async #persist(endpoint: Endpoint, via: Connection | undefined, onSilent: () => void): Promise<Connection> {
    // The first Ctrl-C ends what is being waited for now; connecting afterwards, to put things in order, must still
    // work.
    const soft = this.#ctx.signal.aborted ? [] : [this.#ctx.signal]
    const signal = AbortSignal.any([this.#closing.signal, this.#ctx.kill, ...soft])
    const told = new Set<string>()
    for (let number = 1; ; number++) {
      try {
        return await attempt(endpoint, {
          ctx: this.#ctx,
          options: this.#options,
          questions: this.#questions,
          ring: this.#ring,
          told,
          via,
          signal,
          onSilent,
        })
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error
        if (!error.again || number === ATTEMPTS || isOver(endpoint.until) || via?.lost) throw error.reported
        const pause = FIRST_PAUSE_MS * 3 ** (number - 1) * (0.5 + Math.random())
        await sleep(pause, undefined, {signal}).catch(() => {
          throw new CliError('INTERRUPTED', `interrupted while connecting to ${endpoint.label}`)
        })
      }
    }
  }
}

function hops(endpoint: Endpoint): string[] {
  return endpoint.jump
    ? [...hops(endpoint.jump), `${endpoint.jump.user}@${endpoint.jump.host}:${endpoint.jump.port}`]
    : []
}
