import type {Host} from '../host/index.ts'

/** Seconds that a reservation lives without being renewed, until its run's supervisor has it. */
export const TTL_SECONDS = 30

/**
 * Milliseconds between two renewals: a machine under load may take long for one, and one may be lost. Not oftener: each
 * is a start of Python on every node, and where a hundred nodes are one machine, one every five seconds takes it more
 * than a third of its time.
 */
const RENEW_MS = 10_000

/** Renews what a command has reserved, as long as the command lives. */
export class Keeper {
  readonly #held = new Map<string, {host: Host; fence: number}>()
  /** Nodes that have not answered the last renewal yet. */
  readonly #requested = new Set<string>()
  readonly #lease: string
  #timer: NodeJS.Timeout | undefined

  constructor(lease: string) {
    this.#lease = lease
  }

  /** Fencing number by node. */
  get fences(): ReadonlyMap<string, number> {
    return new Map([...this.#held].map(([node, {fence}]) => [node, fence]))
  }

  add(host: Host, fence: number): void {
    this.#held.set(host.node, {host, fence})
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
    for (const [node, {host, fence}] of this.#held) {
      if (this.#requested.has(node)) continue
      this.#requested.add(node)
      void host
        .call('reservation.renew', {lease: this.#lease, fence})
        .catch(() => {})
        .finally(() => this.#requested.delete(node))
    }
  }
}
