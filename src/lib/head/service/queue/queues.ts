import {Failure} from '../failure.ts'
import {QueueFigures} from './figures.ts'
import {Line, type Entry} from './line.ts'
import type {QueueRules} from './settings.ts'

/** Where a request may go now; or why it waits: all are busy, take no connections, or none is started yet. */
export type Choice = {target: string; release: string} | Wait

interface Wait {
  waits: 'busy' | 'down' | 'cold'
  /** So long at least, whatever the endpoint's rules say. */
  seconds?: number
}

/** What asks for a turn at a target of an endpoint. */
export interface Asked {
  endpoint: string
  client: string
  /** Of a body that is kept meanwhile. */
  bytes: number
  /** When it came, by performance.now(). */
  since: number
  /** When its caller gives it up, by performance.now(). */
  deadline: number | undefined
  /** What those who get the same answer from `choose` have in common. */
  lane(): string
  /** Throws where nothing can come. */
  choose(): Choice
  /** Has its turn: what it takes of the target is taken, before anybody else chooses. */
  begin(target: string): void
}

/** A request's right to be under way at a target; `end` is called once. */
export interface Turn {
  target: string
  release: string
  end(): void
}

/** A request that waits for its turn. */
export interface Queued {
  /** Undefined once it was left. */
  turn: Promise<Turn | undefined>
  /** Its caller is gone. */
  leave(): void
}

/** Requests of an endpoint now: at its targets, and waiting for one. */
export interface Demand {
  inFlight: number
  queued: number
}

interface Waiting extends Entry {
  asked: Asked
  waits: Wait['waits']
  seconds: number
  begun: number
  timer: NodeJS.Timeout | undefined
  settle(turn: Turn | undefined): void
  fail(failure: Error): void
}

/** What `rules` says of an endpoint. */
type RulesOf = (endpoint: string) => Required<QueueRules>

/**
 * Who may send next. A request that finds a target has its turn at once; another waits in its endpoint's queue until a
 * target is free or has come, its age or its caller's deadline ends that, or its caller goes. Nothing is polled: `wake`
 * says that something has changed.
 */
export class Queues {
  readonly #lines = new Map<string, Line<Waiting>>()
  readonly #figures = new Map<string, QueueFigures>()
  readonly #rulesOf: RulesOf
  #queued = 0
  /** Told when a request begins to wait because no target could take it. */
  #tellWaiting = (_endpoint: string): void => {}

  constructor(rulesOf: RulesOf) {
    this.#rulesOf = rulesOf
  }

  /** Has `tell` called whenever a request begins to wait because no target could take it. */
  whenWaiting(tell: (endpoint: string) => void): void {
    this.#tellWaiting = tell
  }

  /** What became of an endpoint's requests. */
  figures(endpoint: string): QueueFigures {
    const known = this.#figures.get(endpoint)
    if (known) return known
    const made = new QueueFigures()
    this.#figures.set(endpoint, made)
    return made
  }

  /** The endpoint is gone. */
  forget(endpoint: string): void {
    this.#figures.delete(endpoint)
    const line = this.#lines.get(endpoint)
    if (line && line.count === 0 && line.underWay === 0) this.#lines.delete(endpoint)
  }

  demand(endpoint: string): Demand {
    const line = this.#lines.get(endpoint)
    return {inFlight: line?.underWay ?? 0, queued: line?.count ?? 0}
  }

  /**
   * A turn, or what waits for one. Throws 429 where the queue is full, 504 where the deadline has passed, and what
   * `choose` throws.
   */
  take(asked: Asked): Turn | Queued {
    this.#requireTime(asked)
    const line = this.#lineOf(asked.endpoint)
    const choice = asked.choose()
    // It is the turn of those before who wait for the same: nobody is served past the queue.
    if ('target' in choice && !line.has(asked.lane)) return this.#begin(asked, line, choice)
    const queued = this.#wait(asked, line, 'target' in choice ? {waits: 'busy'} : choice)
    if ('target' in choice) this.wake(asked.endpoint)
    else this.#tellWaiting(asked.endpoint)
    return queued
  }

  /** A target may be free, or take connections again: for those who wait at this endpoint, or at any. */
  wake(endpoint?: string): void {
    if (this.#queued === 0) return
    for (const name of endpoint === undefined ? [...this.#lines.keys()] : [endpoint]) {
      const line = this.#lines.get(name)
      const blocked = new Set<string>()
      while (line && line.count > 0 && this.#serveOne(line, blocked));
    }
  }

  /** Its document is another one, or what its releases get. */
  changed(endpoint: string): void {
    this.#lines.get(endpoint)?.sort(({asked}) => asked.lane())
    this.wake(endpoint)
  }

  #serveOne(line: Line<Waiting>, blocked: Set<string>): boolean {
    const waiting = line.next(blocked)
    if (!waiting) return false
    try {
      const choice = waiting.asked.choose()
      if ('target' in choice) {
        this.#remove(line, waiting)
        this.figures(waiting.asked.endpoint).waited.add(performance.now() - waiting.begun)
        waiting.settle(this.#begin(waiting.asked, line, choice))
      } else {
        waiting.waits = choice.waits
        blocked.add(waiting.lane)
      }
    } catch (error) {
      this.#remove(line, waiting)
      waiting.fail(error as Error)
    }
    return true
  }

  #begin(asked: Asked, line: Line<Waiting>, {target, release}: {target: string; release: string}): Turn {
    line.begin(asked.client)
    asked.begin(target)
    const begun = performance.now()
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      line.end(asked.client, performance.now() - begun)
      this.wake() // the target may be another endpoint's, too
    }
    return {target, release, end}
  }

  #wait(asked: Asked, line: Line<Waiting>, {waits, seconds = 0}: Wait): Queued {
    const {endpoint, client, bytes} = asked
    const rules = this.#rulesOf(endpoint)
    this.#makeRoom(asked, line, rules)
    const longest = Math.max(rules.seconds, seconds) * 1000
    const begun = performance.now()
    const left = Math.min(asked.since + longest, asked.deadline ?? Infinity) - begun
    let leave = (): void => {}
    const turn = new Promise<Turn | undefined>((settle, fail) => {
      const lane = asked.lane()
      const waiting: Waiting = {
        asked,
        client,
        lane,
        bytes,
        waits,
        seconds: longest / 1000,
        begun,
        timer: undefined,
        settle,
        fail,
      }
      waiting.timer = setTimeout(() => this.#expire(line, waiting), Math.max(0, left)).unref()
      line.add(waiting)
      this.#queued++
      leave = () => this.#remove(line, waiting) && settle(undefined)
    })
    return {turn, leave}
  }

  #makeRoom({endpoint, client, bytes}: Asked, line: Line<Waiting>, rules: Required<QueueRules>): void {
    while (line.count + 1 > rules.requests || line.bytes + bytes > rules.bytes) {
      this.figures(endpoint).refused.full++
      const message = `the queue of endpoint ${endpoint} is full (${line.count} requests wait); try again in a moment`
      const full = new Failure(429, 'REFUSED', message, {retry_after: line.secondsToGo()})
      const other = line.newestOfLargest(client)
      if (!other) throw full
      this.#remove(line, other)
      other.fail(full)
    }
  }

  /** Which of the two bounds it was is not asked of the clock: timers may fire a little early. */
  #expire(line: Line<Waiting>, waiting: Waiting): void {
    const {asked, waits, seconds} = waiting
    if (!this.#remove(line, waiting)) return
    if (asked.deadline !== undefined && asked.deadline <= asked.since + seconds * 1000) {
      waiting.fail(this.#late(asked.endpoint))
      return
    }
    this.figures(asked.endpoint).refused.age++
    waiting.fail(tooLong(asked.endpoint, waits, seconds))
  }

  /** Errors: 504. */
  #requireTime({endpoint, deadline}: Asked): void {
    if (deadline !== undefined && performance.now() >= deadline) throw this.#late(endpoint)
  }

  #late(endpoint: string): Failure {
    this.figures(endpoint).refused.deadline++
    return new Failure(504, 'TIMED_OUT', `the deadline of the request passed before endpoint ${endpoint} could take it`)
  }

  #remove(line: Line<Waiting>, waiting: Waiting): boolean {
    clearTimeout(waiting.timer)
    const isThere = line.remove(waiting)
    if (isThere) this.#queued--
    return isThere
  }

  /** It stays for as long as its endpoint: what comes and goes with each request costs more (docs/adr/0066). */
  #lineOf(endpoint: string): Line<Waiting> {
    const known = this.#lines.get(endpoint)
    if (known) return known
    const made = new Line<Waiting>()
    this.#lines.set(endpoint, made)
    return made
  }
}

function tooLong(endpoint: string, waits: Waiting['waits'], seconds: number): Failure {
  if (waits === 'busy')
    return new Failure(504, 'TIMED_OUT', `the model servers of endpoint ${endpoint} were busy for ${seconds} s`)
  const message =
    waits === 'down'
      ? `no model server of endpoint ${endpoint} takes connections`
      : `no model server of endpoint ${endpoint} was started in ${seconds} s`
  return new Failure(503, 'ENDPOINT_FAILED', message, waits === 'cold' ? {retry_after: Math.ceil(seconds)} : {})
}
