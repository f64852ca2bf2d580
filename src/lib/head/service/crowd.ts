/** Where a member stands, by which it leaves. */
export interface Standing<T> {
  readonly member: T
  /** -1 once it has left. */
  at: number
}

/**
 * Members that come and go with each request, in no order. With Sets in its place short collections copied, at times, most
 * of what requests had left, and stopped the gateway for that (docs/adr/0066).
 */
export class Crowd<T> {
  readonly #standing: Standing<T>[] = []

  get size(): number {
    return this.#standing.length
  }

  add(member: T): Standing<T> {
    const mine = {member, at: this.#standing.length}
    this.#standing.push(mine)
    return mine
  }

  /** False of one that has left. */
  delete(one: Standing<T>): boolean {
    if (one.at < 0) return false
    const last = this.#standing.pop()!
    if (last !== one) {
      last.at = one.at
      this.#standing[one.at] = last
    }
    one.at = -1
    return true
  }

  /** Those that are there now; members may leave meanwhile. */
  all(): Standing<T>[] {
    return [...this.#standing]
  }
}
