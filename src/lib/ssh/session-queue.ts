import {setTimeout as sleep} from 'node:timers/promises'
import type {ClientChannel} from 'ssh2'
import {CliError, throwIfInterrupted, type Context} from '../base/index.ts'

/** OpenSSH's default; a server that allows fewer tells by refusing, and is then remembered. */
const ASSUMED_LIMIT = 10
const PATIENCE_MS = 20_000
const PATIENCE_ALONE = 5

interface Waiter {
  start: () => void
  fail: (error: Error) => void
}

/**
 * Lets as many session channels be open at once as the server allows (sshd's MaxSessions); the others wait in order.
 */
export class SessionQueue {
  readonly #node: string
  readonly #ctx: Context
  #limit = ASSUMED_LIMIT
  /** Asked for or open. */
  #taken = 0
  #open = 0
  /** The most that were open at once: the server allows at least that. */
  #peak = 0
  /** Somebody was refused; nobody asks until it is known how those who asked at the same time have fared. */
  #refused = false
  #warned = false
  readonly #waiting: Waiter[] = []

  constructor(node: string, ctx: Context) {
    this.#node = node
    this.#ctx = ctx
  }

  /**
   * Opens a channel when there is room. A refusal while others of ours are open is the limit: learn it, wait, ask
   * again.
   */
  async run(open: () => Promise<ClientChannel>, signal?: AbortSignal): Promise<ClientChannel> {
    let alone = 0
    for (;;) {
      await this.#turn(signal)
      try {
        const channel = await open()
        this.#peak = Math.max(this.#peak, ++this.#open)
        channel.once('close', () => {
          this.#open--
          this.#taken--
          this.#admit()
        })
        this.#admit()
        return channel
      } catch (error) {
        this.#taken--
        const refused = isRefusal(error)
        // sshd frees a session a moment after it has ended; only a refusal that lasts while nothing of ours is open is
        // final.
        const final = !refused || (this.#taken === 0 && ++alone > PATIENCE_ALONE)
        this.#refused ||= refused && this.#taken > 0
        this.#admit()
        if (error instanceof CliError) throw error
        if (final) throw refusal(this.#node, error as Error)
        if (this.#taken === 0) await sleep(20 * 2 ** alone)
      }
    }
  }

  /** The connection is lost: nobody will get a turn any more. */
  fail(error: Error): void {
    for (const waiter of this.#waiting.splice(0)) waiter.fail(error)
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    if (signal) throwIfInterrupted(signal)
    if (!this.#refused && this.#taken < this.#limit) {
      this.#taken++
      return
    }
    await new Promise<void>((resolve, reject) => {
      const patience = setTimeout(() => {
        if (this.#warned) return
        this.#warned = true
        this.#ctx.reporter.warn(
          `${this.#node} allows ${this.#limit} sessions at once and all are in use; waiting (MaxSessions in its sshd_config)`,
        )
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

  /** Lets in whom there is room for. */
  #admit(): void {
    if (this.#refused) {
      if (this.#taken > this.#open) return
      this.#refused = false
      this.#limit = Math.max(1, this.#peak)
    }
    while (this.#taken < this.#limit && this.#waiting.length > 0) {
      this.#taken++
      this.#waiting.shift()?.start()
    }
  }
}

function refusal(node: string, error: Error): CliError {
  return new CliError('REFUSED', `${node} accepts the connection but refuses to run commands`, {
    details: {node, reason: error.message},
    hint: `ssh to ${node} and look at MaxSessions in its sshd_config`,
    cause: error,
  })
}

/**
 * RFC 4254, 5.1: every refusal to open a channel carries a numeric reason; 2 is what OpenSSH gives past MaxSessions.
 */
function isRefusal(error: unknown): boolean {
  return typeof (error as {reason?: unknown}).reason === 'number'
}
