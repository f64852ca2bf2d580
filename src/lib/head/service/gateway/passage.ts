import {attempt, type Sent} from './attempt.ts'
import {Failure} from '../failure.ts'
import {causeCode, isBroken, isNotConnected} from './lost-target.ts'
import {REFUSED} from './model-server.ts'
import {failureOf} from '../limits/passing.ts'
import {chooseTarget} from '../queue/choose.ts'
import {LOST} from '../queue/pulse.ts'
import type {Asked, Choice, Turn} from '../queue/queues.ts'
import {rulesOf} from '../queue/settings.ts'
import {longestStart} from './silence.ts'

/**
 * A request during which a target's connection broke is sent once more, where its answer does not depend on how often it
 * is asked. Not again, as it may be the cause.
 */
const MOST_BREAKS = 1

/** One request on its way to a target: it waits for its turn, is sent, and goes to another where it can. */
export class Passage {
  readonly #sent: Sent
  readonly #asked: Asked
  readonly #tried = new Set<string>()
  #breaks = 0

  constructor(sent: Sent) {
    const {onward, way} = sent
    const {caller} = onward.exchange
    this.#sent = sent
    this.#asked = {
      endpoint: onward.call.endpoint,
      client: caller && 'id' in caller ? caller.id : 'admin',
      bytes: onward.body?.length ?? 0,
      since: performance.now(),
      deadline: onward.deadline,
      lane: () => way.lanes()[0]?.release ?? '',
      choose: () => this.#choose(),
      begin: (target) => this.#begin(target),
    }
  }

  /** Sends it once it is its turn, and again where that is allowed, until it is answered. Throws Failure. */
  async forward(): Promise<void> {
    const {parts, onward, way} = this.#sent
    const {exchange} = onward
    parts.queues.figures(this.#asked.endpoint).enter()
    for (;;) {
      if (exchange.isTaken) return way.end('abandoned') // its key was revoked meanwhile
      const turn = await this.#turn()
      if (!turn) return way.end('abandoned')
      if (exchange.isTaken || exchange.raw.destroyed) return this.#giveUp(turn)
      const error = await attempt(this.#sent, turn)
      if (!error) return
      this.#requireAnother(error)
    }
  }

  /** Undefined where its caller went away while it waited. */
  async #turn(): Promise<Turn | undefined> {
    const {raw} = this.#sent.onward.exchange
    const queued = this.#sent.parts.queues.take(this.#asked)
    if (!('turn' in queued)) return queued
    if (raw.destroyed || raw.writableFinished) queued.leave()
    raw.once('close', queued.leave)
    try {
      return await queued.turn
    } finally {
      raw.removeListener('close', queued.leave)
    }
  }

  #choose(): Choice {
    const {parts, way} = this.#sent
    const {endpoint} = this.#asked
    const record = parts.endpoints.find(endpoint)
    if (!record) throw new Failure(404, 'NOT_FOUND', `no endpoint ${endpoint}`)
    const lanes = way.lanes()
    const {startSeconds} = record.document.active ?? {}
    if (lanes.length > 0) return chooseTarget(lanes, parts, this.#tried, rulesOf(record).concurrency)
    if (startSeconds !== undefined) return {waits: 'cold', seconds: longestStart(startSeconds)}
    throw new Failure(503, 'ENDPOINT_FAILED', `endpoint ${endpoint} has no active release`)
  }

  #begin(target: string): void {
    const {traffic, health} = this.#sent.parts
    traffic.begin(target)
    health.begin(target)
    this.#tried.add(target)
  }

  #giveUp({target, end}: Turn): void {
    const {parts, way} = this.#sent
    parts.traffic.end(target, false)
    parts.health.left(target)
    end()
    way.end('abandoned')
  }

  /** Throws where something could be done twice by another try. */
  #requireAnother(error: Error): void {
    const {call, body, silence} = this.#sent.onward
    const refused = failureOf(error)
    if (refused) throw refused
    const code = causeCode(error)
    if (code === REFUSED) return void (this.#sent.onward.asking = undefined)
    if (body !== undefined && (isNotConnected(code) || ((isBroken(code) || code === LOST) && this.#mayRepeat(code))))
      return
    const server = `the model server of endpoint ${call.endpoint}`
    if (code === 'UND_ERR_HEADERS_TIMEOUT') {
      throw new Failure(504, 'TIMED_OUT', `${server} did not answer in ${silence / 1000} s`)
    }
    throw new Failure(502, 'ENDPOINT_FAILED', `${server} went away in mid-request (${code || error.message})`)
  }

  #mayRepeat(code: string): boolean {
    if (!this.#sent.onward.call.isRepeatable || this.#breaks >= MOST_BREAKS) return false
    this.#breaks++
    const figures = this.#sent.parts.queues.figures(this.#asked.endpoint)
    // A machine that has gone is no failing server: all that it had is to go elsewhere, and will not bring others down.
    return code === LOST ? figures.sentAgain() : figures.retry()
  }
}
