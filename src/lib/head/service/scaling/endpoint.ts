import type {HeadScaling} from '../../../protocol/index.ts'
import type {ScalingFigures, ScalingRules} from '../../types.ts'
import type {ScalingCounts} from './counts.ts'
import {averageLoad, decide, newMemory, type Memory} from './decide.ts'
import {Places, type Surroundings} from './places.ts'

/** What is asked of the release that serves now. */
export interface ReleaseDemand {
  /** Requests under way there, at this head and its standbys. */
  inFlight: number
  queued: number
  /** Requests that it has answered since the head was started: a short one is seen by it. */
  answered: number
}

const DECIDE_MS = 500
const MOST_EVENTS = 40

/** The servers of one endpoint: how many there should be, and where they are. Has no clock and no disk. */
export class ScaledEndpoint {
  readonly release: string
  readonly places: Places
  rules: ScalingRules
  /** Changed since it was kept. */
  isChanged = true
  #wanted: number
  #wakes = 0
  #memory: Memory
  #events: {at: number; text: string}[] = []
  #sum = 0
  #looks = 0
  #sampleFrom: number
  #answered = 0
  #now: number
  readonly #counts: ScalingCounts
  /** When a request last found all asleep; undefined once one is ready. */
  #wokenAt: number | undefined

  /** `running`: services that run already. */
  constructor(
    release: string,
    rules: ScalingRules,
    running: ReadonlySet<string>,
    now: number,
    counts: ScalingCounts,
    kept?: Pick<HeadScaling, 'events' | 'wakes'>,
  ) {
    this.#counts = counts
    this.release = release
    this.rules = rules
    this.#memory = newMemory(now)
    this.#sampleFrom = this.#now = now
    this.#events = kept?.events ?? []
    this.#wakes = kept?.wakes ?? 0
    this.places = new Places(
      (text) => this.#note(text),
      () => counts.failures++,
    )
    this.places.set(rules, running, now)
    this.#wanted = Math.min(running.size, rules.max)
  }

  /** Others may be chosen from now on; what runs goes on. */
  change(rules: ScalingRules, now: number): void {
    this.rules = rules
    this.places.set(rules, new Set(), now)
    this.isChanged = true
  }

  /** Looks at what is asked, decides, and brings or ends servers. True where another service is to run than before. */
  tick(demand: ReleaseDemand, around: Surroundings): boolean {
    this.#now = around.now
    const before = this.places.on().join()
    this.#sum += demand.inFlight + demand.queued
    this.#looks++
    const wakes = this.#wanted === 0 && demand.queued > 0
    if (wakes || around.now - this.#sampleFrom >= DECIDE_MS) this.#decide(demand, around.now)
    this.places.step(this.#wanted, around)
    this.#awaken(around.now)
    const changed = this.places.on().join() !== before
    this.isChanged ||= changed
    return changed
  }

  #decide({queued, inFlight, answered}: ReleaseDemand, now: number): void {
    // The one look that wakes it is not to be thinned by those before it.
    const load = this.#wanted === 0 ? queued + inFlight : this.#sum / this.#looks
    const isBusy = this.#sum > 0 || answered !== this.#answered
    const sample = {from: this.#sampleFrom, to: now, load, isBusy: isBusy || load > 0}
    const {memory, count, reason, why} = decide(this.#memory, sample, this.#wanted, this.rules)
    this.#memory = memory
    this.#sampleFrom = now
    this.#sum = this.#looks = 0
    this.#answered = answered
    if (count === this.#wanted) return
    if (reason) this.#counts.decisions[reason]++
    if (this.#wanted === 0 && sample.isBusy) {
      this.#wakes++
      this.#wokenAt = now
    }
    this.#note(`${this.#wanted} to ${count} servers: ${why}`)
    this.#wanted = count
    this.isChanged = true
  }

  #awaken(now: number): void {
    if (this.#wokenAt === undefined || (this.#wanted > 0 && this.places.targets().length === 0)) return
    if (this.#wanted > 0) this.#counts.wakes.add(now - this.#wokenAt)
    this.#wokenAt = undefined
  }

  kept(): HeadScaling {
    this.isChanged = false
    return {release: this.release, on: this.places.on(), wakes: this.#wakes, events: this.#events}
  }

  figures(waiting: number, isHeard: (node: string) => boolean): ScalingFigures {
    const places = this.places.all()
    const ready = this.places.targets().length
    const isStarting = places.some(({state}) => state === 'starting')
    return {
      state: ready > 0 ? 'awake' : isStarting ? 'waking' : this.#wanted === 0 ? 'asleep' : 'stuck',
      wanted: this.#wanted,
      ready,
      load: averageLoad(this.#memory, this.#now),
      waiting,
      wakes: this.#wakes,
      places: places.map(({service, node, state, since, why}) => ({
        service,
        node,
        state,
        since,
        ...(why !== undefined && {why}),
      })),
      events: this.#events,
      silent: [...new Set(places.map(({node}) => node))].filter((node) => !isHeard(node)),
    }
  }

  #note(text: string): void {
    this.#events = [{at: this.#now, text}, ...this.#events].slice(0, MOST_EVENTS)
    this.isChanged = true
  }
}
