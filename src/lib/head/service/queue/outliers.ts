/** Requests that failed there one after the other. */
const FAILURES = 5
/** How long it gets nothing; that many times as long as it was taken out before. */
const BASE_MS = 5000
const LONGEST_MS = 60_000
/** Well for so long, it begins with the shortest again. */
const FORGIVEN_MS = 60_000
const MOST_TARGETS = 1000

interface State {
  failures: number
  ejections: number
  /** Until when it gets nothing, by performance.now(); undefined of one that gets requests. */
  until: number | undefined
  backAt: number
  timer: NodeJS.Timeout | undefined
  /** One request is on its way to see whether it is well. */
  isProbed: boolean
}

/**
 * Targets that take connections and fail: broken connections, 502 to 504, no answer. Five in a row take one out, for
 * longer each time, and then one request shows whether it is well. Never more than half of a release's servers are out:
 * what fails everywhere is not a server's fault.
 */
export class Outliers {
  readonly #states = new Map<string, State>()
  /** When each answered last, by performance.now(). */
  readonly #wellAt = new Map<string, number>()
  readonly #tell: () => void
  #ejections = 0

  /** `tell`: a target may be tried again. */
  constructor(tell: () => void) {
    this.#tell = tell
  }

  /** Since the head was started. */
  get ejections(): number {
    return this.#ejections
  }

  isOut(target: string): boolean {
    if (this.#states.size === 0) return false
    const state = this.#states.get(target)
    return state?.until !== undefined && (state.until > performance.now() || state.isProbed)
  }

  /** A request is sent there. */
  begin(target: string): void {
    const state = this.#states.get(target)
    if (state?.until !== undefined) state.isProbed = true
  }

  /** It answered as a server does that is well. */
  succeeded(target: string): void {
    if (this.#wellAt.size >= MOST_TARGETS) this.#wellAt.clear()
    this.#wellAt.set(target, performance.now())
    const state = this.#states.get(target)
    if (!state) return
    state.failures = 0
    if (state.ejections === 0) this.#states.delete(target)
    else if (state.until !== undefined && state.isProbed) {
      Object.assign(state, {until: undefined, isProbed: false, backAt: performance.now()})
      this.#tell()
    }
  }

  /**
   * A request that was sent at `since` had no answer by its caller's deadline. The server hangs only where another one
   * of its release has answered meanwhile, and it has not: otherwise who asks for too much could take servers from all
   * others, also while nobody else asks for anything. As failed.
   */
  late(target: string, since: number, among: readonly string[]): boolean {
    const isWell = (one: string): boolean => (this.#wellAt.get(one) ?? -Infinity) >= since
    return !isWell(target) && among.some(isWell) && this.failed(target, among)
  }

  /** `among`: all servers of its release. True where that took it out. */
  failed(target: string, among: readonly string[]): boolean {
    const now = performance.now()
    const state = this.#at(target)
    state.failures++
    const isProbe = state.isProbed
    if (state.until !== undefined && !isProbe) return false // of a request from before
    if (state.failures < FAILURES && !isProbe) return false
    const out = among.filter((one) => one !== target && this.isOut(one)).length
    if (out + 1 > among.length / 2) {
      Object.assign(state, {until: undefined, isProbed: false})
      return false
    }
    if (!isProbe && now - state.backAt > FORGIVEN_MS) state.ejections = 0
    state.ejections++
    this.#ejections++
    const wait = Math.min(BASE_MS * state.ejections, LONGEST_MS)
    clearTimeout(state.timer)
    const timer = setTimeout(this.#tell, wait + 1).unref()
    Object.assign(state, {failures: 0, until: now + wait, isProbed: false, timer})
    return true
  }

  /** A request there has ended without a word, such as one whose caller has gone. */
  left(target: string): void {
    const state = this.#states.get(target)
    if (state?.isProbed) state.isProbed = false
  }

  #at(target: string): State {
    const known = this.#states.get(target)
    if (known) return known
    const [oldest] = this.#states.keys()
    if (this.#states.size >= MOST_TARGETS && oldest !== undefined) {
      clearTimeout(this.#states.get(oldest)?.timer)
      this.#states.delete(oldest)
    }
    const made = {failures: 0, ejections: 0, until: undefined, backAt: -Infinity, timer: undefined, isProbed: false}
    this.#states.set(target, made)
    return made
  }
}
