import {pipeline} from 'node:stream'
import type {FastifyReply} from 'fastify'
import {copyRequest, isCopied} from './copies.ts'
import {Failure} from './failure.ts'
import {tellHealth} from './health-call.ts'
import {logLine} from './log.ts'
import {causeCode, isBroken, isNotConnected} from './lost-target.ts'
import {ANSWER_SECONDS, keptOf, NO_SERVER, type Answer, type ModelServers, type Onward} from './model-server.ts'
import {backwardHeaders} from './onward.ts'
import type {Parts} from './parts.ts'
import {failureOf} from './passing.ts'
import {chooseTarget} from './queue/choose.ts'
import type {Asked, Choice, Turn} from './queue/queues.ts'
import {rulesOf} from './queue/settings.ts'
import {Tap} from './releases/shadow.ts'
import type {Kept} from './releases/same-answer.ts'
import {outcomeOf, type Way} from './releases/way.ts'

/**
 * A request during which a target's connection broke is sent once more, where its answer does not depend on how often it
 * is asked. Not again, as it may be the cause.
 */
const MOST_BREAKS = 1

/** A server that had less until the caller's deadline has not failed: the caller has asked for too much. */
const LATE_MS = 1000

/** Names the release that answered. */
const RELEASE_HEADER = 'x-flexrack-release'

/** One request on its way to a target: it waits for its turn, is sent, and goes to another where it can. */
export class Passage {
  readonly #parts: Parts
  readonly #servers: ModelServers
  readonly #onward: Onward
  readonly #reply: FastifyReply
  readonly #way: Way
  readonly #asked: Asked
  readonly #tried = new Set<string>()
  #breaks = 0

  constructor(parts: Parts, servers: ModelServers, onward: Onward, reply: FastifyReply, way: Way) {
    const {caller} = onward.request
    this.#parts = parts
    this.#servers = servers
    this.#onward = onward
    this.#reply = reply
    this.#way = way
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
    const {isHealth} = this.#onward.call
    if (!isHealth) this.#parts.queues.figures(this.#asked.endpoint).enter()
    for (let answered = false; !answered;) {
      if (this.#reply.sent) return this.#way.end('abandoned') // its key was revoked meanwhile
      const turn = isHealth ? this.#atOnce() : await this.#turn()
      if (!turn) return this.#way.end('abandoned')
      if (this.#reply.sent || this.#reply.raw.destroyed) {
        this.#end(turn, false)
        return this.#way.end('abandoned')
      }
      answered = await this.#send(turn)
    }
  }

  /** Undefined where its caller went away while it waited. */
  async #turn(): Promise<Turn | undefined> {
    const {raw} = this.#reply
    const place = this.#parts.queues.take(this.#asked)
    if (!('turn' in place)) return place
    if (raw.destroyed || raw.writableFinished) place.leave()
    raw.once('close', place.leave)
    try {
      return await place.turn
    } finally {
      raw.removeListener('close', place.leave)
    }
  }

  #choose(): Choice {
    const {endpoint} = this.#asked
    const record = this.#parts.endpoints.find(endpoint)
    if (!record) throw new Failure(404, 'NOT_FOUND', `no endpoint ${endpoint}`)
    const lanes = this.#way.lanes()
    const {startSeconds} = record.document.active ?? {}
    if (lanes.length > 0) return chooseTarget(lanes, this.#parts, this.#tried, rulesOf(record).concurrency)
    if (startSeconds !== undefined) return {waits: 'cold', seconds: longestStart(startSeconds)}
    throw new Failure(503, 'ENDPOINT_FAILED', `endpoint ${endpoint} has no active release`)
  }

  /** Whose health is asked is asked whatever is known of it, and does not wait. */
  #atOnce(): Turn {
    const {endpoint} = this.#asked
    const lanes = this.#way.lanes()
    if (lanes.length === 0) throw new Failure(503, 'ENDPOINT_FAILED', `endpoint ${endpoint} has no active release`)
    for (const {release, targets} of lanes) {
      const target = this.#parts.traffic.choose(targets.filter((one) => !this.#tried.has(one)))
      if (target === undefined) continue
      this.#begin(target)
      return {target, release, end: () => {}}
    }
    throw new Failure(503, 'ENDPOINT_FAILED', `no model server of endpoint ${endpoint} takes connections`)
  }

  #begin(target: string): void {
    this.#parts.traffic.begin(target)
    this.#parts.health.begin(target)
    this.#tried.add(target)
  }

  #end({target, end}: Turn, answered: boolean): void {
    this.#parts.traffic.end(target, answered)
    this.#parts.health.left(target)
    end()
  }

  /** False where it may go to another target, or the same. */
  async #send(turn: Turn): Promise<boolean> {
    const {target, release} = turn
    const {health} = this.#parts
    const gone = new AbortController()
    const begun = performance.now()
    let isLate = false
    const late =
      this.#onward.deadline === undefined
        ? undefined
        : setTimeout(
            () => {
              isLate = performance.now() - begun >= LATE_MS
              gone.abort(this.#late())
            },
            Math.max(0, this.#onward.deadline - performance.now()),
          )
    let counted = true
    const end = (answered: boolean): void => {
      if (!counted) return
      counted = false
      clearTimeout(late)
      this.#end(turn, answered)
    }
    // One that takes no connections has failed each request that it was drawn for.
    this.#way.enter(this.#way.lanes()[0]?.release ?? release)
    this.#way.enter(release)
    let status: number | undefined
    let kept: (() => Kept) | undefined
    // A reader that went away ends the work that was begun for it: tokens that nobody reads cost a GPU.
    const closed = (): void => {
      const isWhole = this.#reply.raw.writableFinished
      end(isWhole)
      this.#way.end(isWhole && status !== undefined ? outcomeOf(status) : 'abandoned')
      gone.abort()
      if (isWhole && kept) copyRequest(this.#parts, this.#servers, this.#onward, this.#way, kept())
    }
    this.#reply.raw.once('close', closed)
    try {
      const answer = await this.#servers.ask(target, this.#onward, gone.signal)
      this.#heard(target, release, answer.statusCode)
      if (this.#onward.call.isHealth) {
        tellHealth(answer, this.#onward, this.#reply)
        return true
      }
      status = answer.statusCode
      answer.body.once('error', () => gone.signal.aborted || this.#way.end('failed'))
      const tap = isCopied(this.#onward, this.#way) ? new Tap() : undefined
      if (tap) kept = () => keptOf(answer, tap.kept)
      this.#answer(answer, release, tap)
      return true
    } catch (error) {
      if (this.#reply.raw.destroyed || this.#reply.sent) return true
      this.#reply.raw.removeListener('close', closed)
      const code = causeCode(error)
      if (isNotConnected(code)) health.refused(target, code === NO_SERVER)
      else if (isBroken(code) || code === 'UND_ERR_HEADERS_TIMEOUT' || isLate) this.#failed(target, release)
      end(false)
      this.#requireAnother(error as Error, code)
      return false
    }
  }

  #answer({statusCode, headers, body}: Answer, release: string, tap: Tap | undefined): void {
    this.#reply
      .code(statusCode)
      .headers({...backwardHeaders(headers), [RELEASE_HEADER]: release})
      .send(tap ? pipeline(body, tap, () => {}) : body)
  }

  #heard(target: string, release: string, status: number): void {
    this.#parts.health.answered(target)
    if (this.#onward.call.isHealth) return // of the model, which may be none while its server is well
    if (status >= 502 && status <= 504) this.#failed(target, release)
    else this.#parts.health.outliers.succeeded(target)
  }

  #failed(target: string, release: string): void {
    const lane = this.#way.lanes().find((one) => one.release === release)
    if (this.#parts.health.outliers.failed(target, lane?.targets ?? []))
      logLine(`endpoint ${this.#asked.endpoint}: ${target} gets nothing for a while, as it failed again and again`)
  }

  #late(): Failure {
    this.#way.end('abandoned') // it took at least that long
    return new Failure(
      504,
      'TIMED_OUT',
      `endpoint ${this.#asked.endpoint} did not answer before the request's deadline`,
    )
  }

  /** Throws where something could be done twice by another try. */
  #requireAnother(error: Error, code: string): void {
    const {call, body} = this.#onward
    const refused = failureOf(error)
    if (refused) throw refused
    if (body !== undefined && (isNotConnected(code) || (isBroken(code) && this.#mayRepeat()))) return
    const server = `the model server of endpoint ${call.endpoint}`
    if (call.isHealth) {
      throw new Failure(503, 'ENDPOINT_FAILED', `${server} does not answer (${code || error.message})`)
    }
    if (code === 'UND_ERR_HEADERS_TIMEOUT') {
      throw new Failure(504, 'TIMED_OUT', `${server} did not answer in ${ANSWER_SECONDS} s`)
    }
    throw new Failure(502, 'ENDPOINT_FAILED', `${server} went away in mid-request (${code || error.message})`)
  }

  #mayRepeat(): boolean {
    if (!this.#onward.call.isRepeatable || this.#breaks >= MOST_BREAKS) return false
    this.#breaks++
    return this.#parts.queues.figures(this.#asked.endpoint).retry()
  }
}

/** Seconds that requests wait for a server that took so many to start: the next start may be slower. */
function longestStart(seconds: number): number {
  return 2 * seconds + 10
}
