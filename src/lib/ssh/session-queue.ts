import type {ClientChannel} from 'ssh2'
import {CliError, throwIfInterrupted, type Context} from '../base/index.ts'

/** OpenSSH's default; a server that allows fewer tells by refusing, and is then remembered. */
const ASSUMED_LIMIT = 10
const PATIENCE_MS = 20_000

interface Waiter {
  start: () => void
  fail: (error: Error) => void
}

/** Lets as many session channels be open at once as the server allows (sshd's MaxSessions); the others wait in order. */
export class SessionQueue {
  readonly #node: string
  readonly #ctx: Context
  #limit = ASSUMED_LIMIT
  /** Asked for or open. */
  #taken = 0
  #open = 0
  #warned = false
  readonly #waiting: Waiter[] = []

  constructor(node: string, ctx: Context) {
    this.#node = node
    this.#ctx = ctx
  }

  /** Opens a channel when there is room. A refusal while others of ours are open is the limit: learn it, wait, ask again. */
  async run(open: () => Promise<ClientChannel>, signal?: AbortSignal): Promise<ClientChannel> {
    for (;;) {
      await this.#turn(signal)
      try {
        const channel = await open()
        this.#open++
        channel.once('close', () => {
          this.#open--
          this.#leave()
        })
        return channel
      } catch (error) {
        const others = this.#open
        this.#leave(others > 0)
        if (error instanceof CliError) throw error
        if (!isRefusal(error) || others === 0) {
          throw new CliError('REFUSED', `${this.#node} accepts the connection but refuses to run commands`, {
            details: {node: this.#node, reason: (error as Error).message},
            hint: `ssh to ${this.#node} and look at MaxSessions and ForceCommand in its sshd_config`,
            cause: error,
          })
        }
        this.#limit = Math.min(this.#limit, others)
      }
    }
  }

  /** The connection is lost: nobody will get a turn any more. */
  fail(error: Error): void {
    for (const waiter of this.#waiting.splice(0)) waiter.fail(error)
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    if (signal) throwIfInterrupted(signal)
    if (this.#taken < this.#limit) {
      this.#taken++
      return
    }
    await new Promise<void>((resolve, reject) => {
      const patience = setTimeout(() => {
        if (this.#warned) return
        this.#warned = true
        this.#ctx.reporter.warn(`${this.#node} allows ${this.#limit} sessions at once and all are in use; waiting (MaxSessions in its sshd_config)`)
      }, PATIENCE_MS)
      const settle = (then: () => void): void => {
        clearTimeout(patience)
        signal?.removeEventListener('abort', abort)
        then()
      }
      const waiter: Waiter = {start: () => settle(resolve), fail: (error) => settle(() => reject(error))}
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        waiter.fail(new CliError('INTERRUPTED', 'interrupted'))
      }
      signal?.addEventListener('abort', abort, {once: true})
      this.#waiting.push(waiter)
    })
  }

  /** Gives the place back. After a refusal nobody is let in: the next to close makes the room. */
  #leave(refused = false): void {
    this.#taken--
    if (refused) return
    while (this.#taken < this.#limit && this.#waiting.length > 0) {
      this.#taken++
      this.#waiting.shift()?.start()
    }
  }
}

/** RFC 4254, 5.1: every refusal to open a channel carries a numeric reason; 2 is what OpenSSH gives past MaxSessions. */
function isRefusal(error: unknown): boolean {
  return typeof (error as {reason?: unknown}).reason === 'number'
}
