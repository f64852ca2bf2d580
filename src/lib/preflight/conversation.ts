import {PassThrough} from 'node:stream'
import {CliError} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {
  ClockAnswer,
  FloodAnswer,
  ListenAnswer,
  NodeState,
  PreflightCommand,
  PreflightDone,
  PreflightStart,
  ReachAnswer,
  Verbs,
} from '../protocol/index.ts'

type Said = Verbs['preflight.run']['event']
/** What each command is answered. */
interface Answers {
  clock: ClockAnswer
  listen: ListenAnswer
  reach: ReachAnswer
  flood: FloodAnswer
  facts: NodeState
}
/** Without the number that it gets. */
type Command<D extends keyof Answers> = Omit<Extract<PreflightCommand, {do: D}>, 'id'>

interface Waiting {
  resolve(event: Said): void
  reject(error: Error): void
}

/** Milliseconds. */
const CLOSE_MS = 3000

/**
 * One node's side of a preflight (preflight.run): a process there that listens while this lasts and does what it is
 * asked.
 */
export class Conversation {
  /** What it said when it was ready. Rejects where it did not become so. */
  readonly ready: Promise<Said>
  readonly #node: string
  readonly #body = new PassThrough()
  readonly #waiting = new Map<number, Waiting>()
  readonly #call: Promise<unknown>
  readonly #abort = new AbortController()
  #number = 0
  #over: Error | undefined

  constructor(host: Host, input: PreflightStart, signal: AbortSignal) {
    this.#node = host.node
    this.ready = new Promise((resolve, reject) => this.#waiting.set(0, {resolve, reject}))
    this.ready.catch(() => {})
    this.#call = host
      .call('preflight.run', input, {
        body: this.#body,
        signal: AbortSignal.any([signal, this.#abort.signal]),
        onEvent: (event) => this.#hear(event),
      })
      .then(
        () =>
          this.#end(
            new CliError('REMOTE_FAILED', `the preflight on ${this.#node} ended early`, {details: {node: this.#node}}),
          ),
        (error: Error) => this.#end(error),
      )
  }

  /** Says one command and waits for its answer. Errors: TIMED_OUT, and those of Host.call. */
  async ask<D extends keyof Answers>(command: Command<D> & {do: D}, milliseconds: number): Promise<Answers[D]> {
    if (this.#over) throw this.#over
    const id = ++this.#number
    const answer = new Promise<Said>((resolve, reject) => this.#waiting.set(id, {resolve, reject}))
    this.#body.write(`${JSON.stringify({id, ...command})}\n`)
    const {event: _event, id: _id, ...reported} = (await within(answer, milliseconds, this.#node)) as PreflightDone
    return reported as unknown as Answers[D]
  }

  /**
   * Ends it: the node closes its ports and the process there ends. A node that does not answer any more is not waited
   * for. Never rejects.
   */
  async close(): Promise<void> {
    this.#body.end()
    await within(this.#call, CLOSE_MS, this.#node).catch(() => this.#abort.abort())
  }

  #hear(event: Said): void {
    const id = event.event === 'ready' ? 0 : event.event === 'done' ? Number(event.id) : NaN
    this.#waiting.get(id)?.resolve(event)
    this.#waiting.delete(id)
  }

  #end(error: Error): void {
    this.#over = error
    for (const one of this.#waiting.values()) one.reject(error)
    this.#waiting.clear()
  }
}

/** Rejects with TIMED_OUT where it takes longer. */
export async function within<T>(promise: Promise<T>, milliseconds: number, node: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new CliError('TIMED_OUT', `${node} did not answer within ${(milliseconds / 1000).toFixed(0)} s`, {
            details: {node},
          }),
        ),
      milliseconds,
    )
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
