import {Outliers} from './outliers.ts'
import {Pulse} from './pulse.ts'

/** After a refused connection a server is tried again, each time later: a restart takes seconds, a switch less. */
const FIRST_DOWN_MS = 50
const LONGEST_DOWN_MS = 1000
const MOST_TARGETS = 1000

interface State {
  origin: string
  /** Refused connections, one after the other. */
  refusals: number
  /** Until when nothing is sent there, by performance.now(). */
  until: number
  timer: NodeJS.Timeout | undefined
  /** Only an answer shows that it is back: connections are taken by what stands before it. */
  hasFront: boolean
  /** One request is on its way to see whether it is back. */
  isProbed: boolean
}

/**
 * Which targets take connections, by what requests met there. One that refused gets nothing for a moment, and then one
 * request; once that is connected it gets all again. So a server that is away costs those who wait nothing, and is asked
 * by one of them at a time.
 */
export class TargetHealth {
  readonly #down = new Map<string, State>()
  readonly #tell: () => void
  /** Those that take connections, and fail. */
  readonly outliers: Outliers
  /** Those whose machine has gone without a word. */
  readonly pulse = new Pulse((target) => this.refused(target))

  /** `tell`: a target may be tried that was not to be before. */
  constructor(tell: () => void) {
    this.#tell = tell
    this.outliers = new Outliers(tell)
  }

  /** Whether a request may be sent there now. */
  isOpen(target: string): boolean {
    const state = this.#down.get(target)
    return state === undefined || (state.until <= performance.now() && !state.isProbed)
  }

  /** A request is sent there. */
  begin(target: string): void {
    const state = this.#down.get(target)
    if (state) state.isProbed = true
    this.outliers.begin(target)
  }

  /** It took no connection, or what stands before it said that it takes none. */
  refused(target: string, hasFront = false): void {
    const known = this.#down.get(target)
    if (known && known.until > performance.now()) return // another request has told it
    const refusals = (known?.refusals ?? 0) + 1
    const wait = Math.min(FIRST_DOWN_MS * 2 ** (refusals - 1), LONGEST_DOWN_MS)
    this.#forget(target)
    if (this.#down.size >= MOST_TARGETS) this.#forget(this.#down.keys().next().value!)
    this.#down.set(target, {
      origin: new URL(target).origin,
      refusals,
      until: performance.now() + wait,
      timer: setTimeout(this.#tell, wait + 1).unref(),
      hasFront,
      isProbed: false,
    })
  }

  /** A connection was made there. */
  connected(origin: string): void {
    if (this.#down.size === 0) return
    for (const [target, state] of this.#down) if (state.origin === origin && !state.hasFront) this.#recover(target)
  }

  /** It answered. */
  answered(target: string): void {
    this.pulse.heard(target)
    if (this.#down.has(target)) this.#recover(target)
  }

  /** A request there has ended without a word of whether it is back, such as one whose caller has gone. */
  left(target: string): void {
    this.outliers.left(target)
    const state = this.#down.get(target)
    if (!state?.isProbed) return
    state.isProbed = false
    this.#tell()
  }

  #recover(target: string): void {
    this.#forget(target)
    this.#tell()
  }

  #forget(target: string): void {
    clearTimeout(this.#down.get(target)?.timer)
    this.#down.delete(target)
  }
}
