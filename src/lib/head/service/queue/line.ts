/** Weight of the newest request in what is known of how long they take. */
const RECENT = 0.1

/** Clients that are known; with more, those that have nothing here are forgotten. */
const MOST_IDLE = 100

/** Somebody who waits: whose it is, what for, and the bytes that are kept for it meanwhile. */
export interface Entry {
  client: string
  /** Entries of one lane wait for the same targets. */
  lane: string
  bytes: number
}

interface Share<E> {
  /** By lane, each in the order in which they came. */
  waiting: Map<string, Set<E>>
  count: number
  underWay: number
  /** When it had its last turn, counted in turns. */
  turn: number
}

/**
 * Who waits at one endpoint, by client: each client's own in the order in which they came; between clients whose turn it
 * is. Next is the client with the least under way, and of those the one whose last turn is longest ago: so clients that
 * want more than there is have the same number under way, however many they send and however long each takes.
 */
export class Line<E extends Entry> {
  readonly #shares = new Map<string, Share<E>>()
  #turn = 0
  #count = 0
  #bytes = 0
  #underWay = 0
  /** That requests are under way, lately. */
  #ms = 0

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#bytes
  }

  get underWay(): number {
    return this.#underWay
  }

  add(entry: E): void {
    const share = this.#of(entry.client)
    const lane = share.waiting.get(entry.lane) ?? new Set<E>()
    share.waiting.set(entry.lane, lane.add(entry))
    share.count++
    this.#count++
    this.#bytes += entry.bytes
  }

  /** False of one that does not wait any more. */
  remove(entry: E): boolean {
    const share = this.#shares.get(entry.client)
    const lane = share?.waiting.get(entry.lane)
    if (!share || !lane?.delete(entry)) return false
    if (lane.size === 0) share.waiting.delete(entry.lane)
    share.count--
    this.#count--
    this.#bytes -= entry.bytes
    return true
  }

  /** Whether anybody waits in that lane. */
  has(laneOf: () => string): boolean {
    if (this.#count === 0) return false
    const lane = laneOf()
    for (const share of this.#shares.values()) if (share.waiting.has(lane)) return true
    return false
  }

  /** Whose turn it is, of those whose lane is not among these. */
  next(blocked: ReadonlySet<string>): E | undefined {
    let [best, entry]: [Share<E> | undefined, E | undefined] = [undefined, undefined]
    for (const share of this.#shares.values()) {
      if (best && (share.underWay - best.underWay || share.turn - best.turn) >= 0) continue
      for (const [name, lane] of share.waiting) {
        if (blocked.has(name)) continue
        best = share
        entry = lane.values().next().value
        break
      }
    }
    return entry
  }

  /** The one that came last of the client that has the most waiting, and more than this client would have with one more. */
  newestOfLargest(client: string): E | undefined {
    let [most, largest]: [number, Share<E> | undefined] = [(this.#shares.get(client)?.count ?? 0) + 1, undefined]
    for (const share of this.#shares.values()) if (share.count > most) [most, largest] = [share.count, share]
    return [...([...(largest?.waiting.values() ?? [])].at(-1) ?? [])].at(-1)
  }

  /** Everybody who waits, each in the lane that `laneOf` says. */
  sort(laneOf: (entry: E) => string): void {
    for (const share of this.#shares.values()) {
      const all = [...share.waiting.values()].flatMap((lane) => [...lane])
      share.waiting.clear()
      for (const entry of all) {
        entry.lane = laneOf(entry)
        share.waiting.set(entry.lane, (share.waiting.get(entry.lane) ?? new Set<E>()).add(entry))
      }
    }
  }

  begin(client: string): void {
    const share = this.#of(client)
    share.underWay++
    share.turn = ++this.#turn
    this.#underWay++
  }

  end(client: string, ms: number): void {
    this.#ms += (ms - this.#ms) * RECENT
    const share = this.#shares.get(client)
    if (!share) return
    share.underWay--
    this.#underWay--
  }

  /** About how long it takes until those who wait now have gone; 1 to 60. */
  secondsToGo(): number {
    const ms = (this.#count * this.#ms) / Math.max(1, this.#underWay)
    return Math.min(60, Math.max(1, Math.ceil(ms / 1000)))
  }

  #of(client: string): Share<E> {
    const share = this.#shares.get(client) ?? this.#open(client)
    // Who comes anew is before who had the last turn, and after all others.
    if (isIdle(share)) share.turn = this.#turn - 0.5
    return share
  }

  /** It stays: what comes and goes with each request costs more (docs/adr/0066). */
  #open(client: string): Share<E> {
    if (this.#shares.size >= MOST_IDLE)
      for (const [name, share] of this.#shares) if (isIdle(share)) this.#shares.delete(name)
    const share = {waiting: new Map<string, Set<E>>(), count: 0, underWay: 0, turn: 0}
    this.#shares.set(client, share)
    return share
  }
}

function isIdle({count, underWay}: {count: number; underWay: number}): boolean {
  return count === 0 && underWay === 0
}
