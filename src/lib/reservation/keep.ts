import type {Host} from '../host/index.ts'
import {isLinkTrouble} from '../ssh/index.ts'

/** Seconds that a reservation lives without being renewed, until its run's supervisor has it. */
export const TTL_SECONDS = 30

/**
 * Milliseconds between two renewals: a machine under load may take long for one, and one may be lost. Not oftener: each
 * is a start of Python on every node, and where a hundred nodes are one machine, one every five seconds takes it more
 * than a third of its time.
 */
const RENEW_MS = 10_000
/** Milliseconds after which two renewals in a row have not come through. */
const OVERDUE_MS = 25_000

/** Renews what a command has reserved, as long as the command lives. */
export class Keeper {
  readonly #held = new Map<string, {host: Host; fence: number; renewedAt: number}>()
  /** Nodes that have not answered the last renewal yet. */
  readonly #requested = new Set<string>()
  readonly #lease: string
  readonly #reach: ((node: string) => Host | Promise<Host>) | undefined
  #timer: NodeJS.Timeout | undefined

  /** `reach`: a node again whose connection was lost. */
  constructor(lease: string, reach?: (node: string) => Host | Promise<Host>) {
    this.#lease = lease
    this.#reach = reach
  }

  /** Fencing number by node. */
  get fences(): ReadonlyMap<string, number> {
    return new Map([...this.#held].map(([node, {fence}]) => [node, fence]))
  }

  add(host: Host, fence: number): void {
    this.#held.set(host.node, {host, fence, renewedAt: Date.now()})
    this.#timer ??= setInterval(() => this.#renew(), RENEW_MS).unref()
  }

  /** Confirms all of it. Errors: RESERVATION_LOST. */
  async confirm(signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#held.values()].map(({host, fence}) =>
        host.call('reservation.confirm', {lease: this.#lease, fence}, {signal}),
      ),
    )
  }

  /**
   * Gives everything back, or (`wait`) keeps only the places in line. A node that does not answer is left to the time
   * to live; what a supervisor has is left to it.
   */
  async release(hosts: Host[], options: {wait?: boolean} = {}): Promise<void> {
    for (const host of hosts) this.#held.delete(host.node)
    if (this.#held.size === 0) this.close()
    await Promise.allSettled(
      hosts.map((host) =>
        host.call('reservation.release', {lease: this.#lease, own: true, wait: options.wait ?? false}),
      ),
    )
  }

  /**
   * Renews it now where that has not come through for a while: what was not renewed in time is still ours while nobody
   * else has taken it. Errors: RESERVATION_LOST, those of the connection.
   */
  async ensure(node: string): Promise<void> {
    const held = this.#held.get(node)
    if (held && Date.now() - held.renewedAt > OVERDUE_MS) await this.#renewOn(node)
  }

  /** The supervisor there has it: that node needs no renewal any more. */
  handOver(node: string): void {
    this.#held.delete(node)
  }

  /** Renews no more. */
  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /**
   * One that is lost is told by the step that needs it. A node that takes longer than the time between two is asked
   * again after its answer: more questions make it no quicker.
   */
  #renew(): void {
    for (const node of this.#held.keys()) {
      if (this.#requested.has(node)) continue
      this.#requested.add(node)
      void this.#renewOn(node)
        .catch(() => {})
        .finally(() => this.#requested.delete(node))
    }
  }

  async #renewOn(node: string): Promise<void> {
    const held = this.#held.get(node)
    if (!held) return
    const renew = (): Promise<unknown> => held.host.call('reservation.renew', {lease: this.#lease, fence: held.fence})
    try {
      await renew()
    } catch (error) {
      if (!this.#reach || !isLinkTrouble(error)) throw error
      held.host = await this.#reach(node)
      await renew()
    }
    held.renewedAt = Date.now()
  }
}
