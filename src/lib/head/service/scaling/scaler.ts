import type {ServerReport} from '../../../protocol/index.ts'
import type {ScalingFigures} from '../../types.ts'
import type {EndpointRecord} from '../documents/endpoints.ts'
import {logLine} from '../log.ts'
import type {Parts} from '../parts.ts'
import {reach} from '../gateway/reach.ts'
import {Agents} from './agents.ts'
import {ScalingCounts} from './counts.ts'
import {ScaledEndpoint, type ReleaseDemand} from './endpoint.ts'
import {GpuUse} from './gpu-use.ts'
import {KeptScaling} from './kept.ts'
import type {Place} from './places.ts'

const TICK_MS = 100
/** How often servers are asked whether they are ready, by what is known of them. */
const LOOK_MS: Partial<Record<Place['state'], number>> = {starting: 100, ready: 2000, lost: 1000}

type ScalerParts = Pick<Parts, 'endpoints' | 'traffic' | 'measures' | 'authority' | 'queues' | 'followers'>

/**
 * Chooses how many servers endpoints have, where their documents leave that to the head, and which: what is asked of
 * each is looked at ten times a second. Nodes' agents start and end servers (agents.ts); requests go to those that
 * answer. What a head that starts again has to know is kept (kept.ts).
 */
export class Scaler {
  readonly agents: Agents
  readonly gpus = new GpuUse()
  readonly #parts: ScalerParts
  readonly #kept: KeptScaling
  readonly #scaled = new Map<string, ScaledEndpoint>()
  readonly #counts = new Map<string, ScalingCounts>()
  /** When a place was asked last, and whether it is being asked. By service. */
  readonly #asked = new Map<string, {at: number; isOpen: boolean}>()

  private constructor(parts: ScalerParts, kept: KeptScaling) {
    this.#parts = parts
    this.#kept = kept
    this.agents = new Agents((node) => [...this.#scaled.values()].flatMap((one) => one.places.wantedOn(node)))
  }

  static async open(headFolder: string, parts: ScalerParts): Promise<Scaler> {
    const scaler = new Scaler(parts, await KeptScaling.open(headFolder))
    for (const name of parts.endpoints.names()) scaler.follow(name)
    parts.queues.whenWaiting((name) => scaler.#nudge(name))
    return scaler
  }

  /** The endpoint's document is another one, or gone. */
  follow(name: string): void {
    const {endpoints} = this.#parts
    const active = endpoints.find(name)?.document.active
    const known = this.#scaled.get(name)
    if (!active?.scaling || active.release === undefined) {
      this.#scaled.delete(name)
      this.#counts.delete(name)
      this.#kept.forget(name)
      endpoints.run(name, undefined)
    } else if (known?.release === active.release) known.change(active.scaling, Date.now())
    else {
      const kept = this.#kept.of(name)
      const isSame = kept?.release === active.release
      const on = isSame ? kept.on : servicesOf(active)
      const counts = this.#counts.get(name) ?? new ScalingCounts()
      this.#counts.set(name, counts)
      this.#scaled.set(name, new ScaledEndpoint(active.release, active.scaling, new Set(on), Date.now(), counts, kept))
    }
    this.#settle(name)
    this.agents.changed()
  }

  /** What was done since the head was started; undefined where a command says how many servers there are. */
  counts(name: string): ScalingCounts | undefined {
    return this.#counts.get(name)
  }

  figures(name: string): ScalingFigures | undefined {
    const {queued} = this.#parts.queues.demand(name)
    return this.#scaled.get(name)?.figures(queued, (node) => this.agents.isHeard(node))
  }

  /** No server is ready, and a request would be answered once one is. */
  isComing(name: string): boolean {
    const state = this.figures(name)?.state
    return state === 'asleep' || state === 'waking'
  }

  /** What a node says of the services that it has. Those that are of no endpoint are passed over. */
  heard(node: string, reports: Record<string, ServerReport>): void {
    const now = Date.now()
    for (const [name, one] of this.#scaled) {
      for (const {service, node: at} of one.places.all()) {
        const report = Object.hasOwn(reports, service) ? reports[service] : undefined
        if (at === node && report) one.places.heard(service, report, now)
      }
      this.#settle(name)
    }
  }

  /** Looks at every endpoint. */
  tick(): void {
    for (const name of this.#scaled.keys()) this.#tick(name)
  }

  #nudge(name: string): void {
    if (this.#scaled.get(name)?.places.targets().length === 0) this.#tick(name)
  }

  #tick(name: string): void {
    const one = this.#scaled.get(name)
    if (!one) return
    const {traffic, followers} = this.#parts
    const now = Date.now()
    const changed = one.tick(this.#demand(name, one.release), {
      now,
      // A standby that does not know yet may send there in the next moment.
      inFlight: (url) => traffic.underWay(url) + followers.underWay(url) + (followers.areCurrent ? 0 : 1),
      isHeard: (node) => this.agents.isHeard(node),
    })
    this.#settle(name)
    if (changed) this.agents.changed()
    for (const place of one.places.all()) this.#look(name, one, place, now)
  }

  #demand(name: string, release: string): ReleaseDemand {
    const measured = this.#parts.measures.of(name).get(release)
    const {queued} = this.#parts.queues.demand(name)
    const urls = this.#scaled.get(name)?.places.targets() ?? []
    const {followers} = this.#parts
    // What is short is over before a standby tells what it has under way: it tells what it has answered, too.
    const sumOf = (count: (url: string) => number): number => urls.reduce((sum, url) => sum + count(url), 0)
    const inFlight = (measured?.underWay.size ?? 0) + sumOf((url) => followers.underWay(url))
    const answered = (measured?.total.requests ?? 0) + sumOf((url) => followers.answered(url))
    return {inFlight, queued, answered}
  }

  /** Asks a server whether it is ready, where it is time to. */
  #look(name: string, one: ScaledEndpoint, place: Place, now: number): void {
    const every = LOOK_MS[place.state]
    const last = this.#asked.get(place.service)
    if (every === undefined || last?.isOpen || (last && now - last.at < every)) return
    const health = this.#parts.endpoints.find(name)?.document.active?.health ?? `/v2/models/${name}/ready`
    const asked = {at: now, isOpen: true}
    this.#asked.set(place.service, asked)
    void reach(this.#parts, `${place.url}${health}`)
      .then(({reached, connected, why}) => {
        const isSlow = connected && why?.startsWith('no answer') === true
        one.places.saw(place.service, reached ? 'ready' : isSlow ? 'slow' : 'silent', Date.now())
        if (this.#scaled.get(name) === one) this.#settle(name)
      })
      .catch((error: Error) => logLine(`${place.service} was not looked at: ${error.message}`))
      .finally(() => (asked.isOpen = false))
  }

  /** The gateway sends where servers are now; what changed is kept. */
  #settle(name: string): void {
    const one = this.#scaled.get(name)
    if (!one) return
    if (this.#parts.endpoints.run(name, one.places.targets())) this.#parts.queues.changed(name)
    if (one.isChanged) this.#kept.keep(name, one.kept())
  }
}

/** Looks at all endpoints until it is told to stop. */
export function watchDemand({scaler}: Pick<Parts, 'scaler'>): () => void {
  const timer = setInterval(() => scaler.tick(), TICK_MS)
  return () => clearInterval(timer)
}

/** Of a release that was just switched to: what its deploy has started. */
function servicesOf({targets = [], scaling}: NonNullable<EndpointRecord['document']['active']>): string[] {
  return scaling?.places.filter(({url}) => targets.includes(url)).map(({service}) => service) ?? []
}
