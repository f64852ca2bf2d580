import {createHash} from 'node:crypto'
import type {AgentAnswer, PlaceOrder} from '../../../protocol/index.ts'
import {Held} from '../held.ts'

/** Which of the prepared services are to run on a node, and a mark of this answer. */
type NodeOrder = Pick<AgentAnswer, 'seen' | 'places'>

/** A question is answered by then in any case, so that a node that fell silent is noticed. Milliseconds. */
const LONGEST_WAIT_MS = 10_000
/** An agent that asked within this time is there; it asks again at once. */
const HEARD_MS = LONGEST_WAIT_MS + 5000
/** Questions of one node that are held at once. */
const MOST_HELD = 4

/** The nodes' agents: who asks, and the questions that are held until there is something new. */
export class Agents {
  readonly #orderOf: (node: string) => PlaceOrder[]
  readonly #heardAt = new Map<string, number>()
  readonly #held = new Map<string, Held>()
  readonly #now: () => number

  constructor(orderOf: (node: string) => PlaceOrder[], now: () => number = Date.now) {
    this.#orderOf = orderOf
    this.#now = now
  }

  isHeard(node: string): boolean {
    return this.#now() - (this.#heardAt.get(node) ?? 0) < HEARD_MS
  }

  /** The agent has said something. */
  hears(node: string): void {
    this.#heardAt.set(node, this.#now())
  }

  /** What is to run there, as soon as that is another answer than `seen`; at the end of `waitMs` in any case. */
  async ask(node: string, seen: unknown, waitMs: number, gone: AbortSignal): Promise<NodeOrder> {
    this.hears(node)
    const until = performance.now() + Math.min(waitMs, LONGEST_WAIT_MS)
    for (;;) {
      const order = this.#order(node)
      const left = until - performance.now()
      const held = this.#held.get(node) ?? new Held()
      if (order.seen !== seen || left <= 0 || gone.aborted || held.size >= MOST_HELD) return order
      this.#held.set(node, held)
      await held.wait(left, gone)
      if (!gone.aborted) this.hears(node)
    }
  }

  /** Something else is to run somewhere. */
  changed(): void {
    for (const held of this.#held.values()) held.wake()
  }

  #order(node: string): NodeOrder {
    const places = this.#orderOf(node)
    return {seen: createHash('sha256').update(JSON.stringify(places)).digest('base64url').slice(0, 16), places}
  }
}
