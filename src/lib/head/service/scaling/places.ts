import type {PlaceOrder, ServerReport} from '../../../protocol/index.ts'
import type {PlaceState, ScalingPlace, ScalingRules} from '../../types.ts'

/** How a server answered when it was asked: `silent` says that nobody took the connection, or that it is not well. */
export type Sight = 'ready' | 'silent' | 'slow'

export interface Place extends ScalingPlace {
  state: PlaceState
  /** Since when, milliseconds since 1970. */
  since: number
  /** Looks in a row that met nobody. */
  misses: number
  /** Starts in a row that failed, and when the next one may be. */
  failures: number
  retryAt: number
  why?: string
}

/** What a place is decided by, besides what it says itself. */
export interface Surroundings {
  now: number
  /** Requests under way at a server. */
  inFlight(url: string): number
  /** Whether the node's agent asks. */
  isHeard(node: string): boolean
}

/** A server that was killed is started again by its node at once; so long it is waited for. */
const MOST_MISSES = 3
const DRAIN_MS = 30_000
const FIRST_RETRY_MS = 15_000
const LONGEST_RETRY_MS = 600_000
/** A server that ends so often before it is ready will not be. */
const MOST_RESTARTS = 3

/**
 * Where the servers of one endpoint are: which places are on, and which of them requests go to. Looks at nothing itself
 * and has no clock: scaler.ts tells it. `tell` hears what is worth a line.
 */
export class Places {
  readonly #places = new Map<string, Place>()
  readonly #tell: (text: string) => void
  readonly #tellFailed: () => void
  #longestStart = 0

  /** `tellFailed`: one could not be started. */
  constructor(tell: (text: string) => void, tellFailed: () => void = () => {}) {
    this.#tell = tell
    this.#tellFailed = tellFailed
  }

  /** The places that there are now; new ones are off, unless they are among those that run. */
  set(rules: Pick<ScalingRules, 'places' | 'longestStart'>, running: ReadonlySet<string>, now: number): void {
    this.#longestStart = rules.longestStart * 1000
    const named = new Set(rules.places.map(({service}) => service))
    for (const service of this.#places.keys()) if (!named.has(service)) this.#places.delete(service)
    for (const place of rules.places) {
      const known = this.#places.get(place.service)
      const state = running.has(place.service) ? 'ready' : 'off'
      if (known) Object.assign(known, place)
      else this.#places.set(place.service, {...place, state, since: now, misses: 0, failures: 0, retryAt: 0})
    }
  }

  all(): Place[] {
    return [...this.#places.values()]
  }

  /** Where requests go. */
  targets(): string[] {
    return this.#in('ready').map(({url}) => url)
  }

  /** What is to run on a node, and what is not. */
  wantedOn(node: string): PlaceOrder[] {
    return this.all().flatMap((place) => (place.node === node ? [{service: place.service, on: isOn(place)}] : []))
  }

  /** Services that are to run. */
  on(): string[] {
    return this.all().flatMap((place) => (isOn(place) ? [place.service] : []))
  }

  /** A server was asked whether it is ready. */
  saw(service: string, sight: Sight, now: number): void {
    const place = this.#places.get(service)
    if (!place) return
    if (sight === 'ready' && (place.state === 'starting' || place.state === 'lost')) {
      if (place.state === 'lost') this.#tell(`${service} on ${place.node} answers again`)
      this.#become(place, 'ready', now)
      place.failures = 0
    }
    place.misses = sight === 'silent' ? place.misses + 1 : 0
    if (place.state !== 'ready' || place.misses < MOST_MISSES) return
    this.#tell(`${service} on ${place.node} does not answer; another one takes its place`)
    this.#become(place, 'lost', now)
  }

  /** What the node says of it. */
  heard(service: string, report: ServerReport, now: number): void {
    const place = this.#places.get(service)
    if (!place || (place.state !== 'starting' && place.state !== 'lost')) return
    const gaveUp = report.state === 'failed'
    if (gaveUp || (place.state === 'starting' && report.restarts >= MOST_RESTARTS))
      this.#fail(place, `its server ended (${report.exit ?? 'for an unknown reason'})`, now)
  }

  /** Brings as many servers as are wanted, or ends those too many; as far as can be now. */
  step(wanted: number, around: Surroundings): void {
    const {now} = around
    for (const place of this.all()) {
      const age = now - place.since
      if (place.state === 'draining' && (around.inFlight(place.url) === 0 || age > DRAIN_MS))
        this.#become(place, 'off', now)
      const isLate = age > this.#longestStart && (place.state === 'starting' || place.state === 'lost')
      if (isLate && (place.state === 'starting' || around.isHeard(place.node)))
        this.#fail(place, `it was not ready within ${this.#longestStart / 1000} s`, now)
    }
    const serving = this.#in('ready', 'starting')
    for (let missing = wanted - serving.length; missing > 0; missing--) {
      const place = this.#nextToStart(around)
      if (!place) break
      this.#become(place, place.state === 'draining' ? 'ready' : 'starting', now)
    }
    for (let over = serving.length - wanted; over > 0; over--) this.#endOne(now)
    // One that is lost stays wanted until others serve in its place: were the head cut off from all, all would end.
    if (this.#in('ready').length >= wanted)
      for (const place of this.#in('lost')) if (around.isHeard(place.node)) this.#become(place, 'draining', now)
  }

  /** One that still drains is there at once; then the node with the fewest servers, and of its places the first. */
  #nextToStart({now, isHeard}: Surroundings): Place | undefined {
    const [draining] = this.#in('draining').filter((place) => place.misses === 0)
    if (draining) return draining
    const free = this.#in('off', 'failed').filter((one) => one.retryAt <= now && isHeard(one.node))
    return free.toSorted((a, b) => a.failures - b.failures || this.#load(a.node) - this.#load(b.node))[0]
  }

  /** What is not ready yet goes first, then where most are. */
  #endOne(now: number): void {
    const [starting] = this.#in('starting').toReversed()
    if (starting) return this.#become(starting, 'off', now)
    const [last] = this.#in('ready')
      .toReversed()
      .toSorted((a, b) => b.misses - a.misses || this.#load(b.node) - this.#load(a.node))
    if (last) this.#become(last, 'draining', now)
  }

  #fail(place: Place, why: string, now: number): void {
    place.failures++
    this.#tellFailed()
    place.retryAt = now + Math.min(FIRST_RETRY_MS * 2 ** (place.failures - 1), LONGEST_RETRY_MS)
    this.#become(place, 'failed', now)
    place.why = why
    this.#tell(`${place.service} on ${place.node} could not be started: ${why}`)
  }

  #become(place: Place, state: PlaceState, now: number): void {
    place.state = state
    place.since = now
    place.misses = 0
    delete place.why
  }

  #load(node: string): number {
    return this.#in('ready', 'starting', 'lost').filter((place) => place.node === node).length
  }

  #in(...states: PlaceState[]): Place[] {
    return this.all().filter(({state}) => states.includes(state))
  }
}

function isOn({state}: Place): boolean {
  return state !== 'off' && state !== 'failed'
}
