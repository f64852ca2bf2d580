import type {IncomingHttpHeaders} from 'node:http'
import type {Answering} from './answering.ts'
import {isKept, useAnswer} from './copies.ts'
import {Failure} from '../failure.ts'
import {logLine} from '../log.ts'
import {causeCode, isBroken, isNotConnected} from './lost-target.ts'
import {keptOf, NO_SERVER, type ModelServers, type Onward} from './model-server.ts'
import type {Parts} from '../parts.ts'
import type {Turn} from '../queue/queues.ts'
import {rowsOf} from '../releases/batch-sizes.ts'
import {Collected} from '../releases/shadow.ts'
import {AnswerUsage} from '../usage/answer-usage.ts'
import {WithoutUsage} from '../usage/stream-usage.ts'
import {outcomeOf, RELEASE_HEADER, type Way} from '../releases/way.ts'

/** A server that had less until the caller's deadline has not failed: the caller has asked for too much. */
const LATE_MS = 1000

/** A request on its way. */
export interface Sent {
  parts: Parts
  servers: ModelServers
  onward: Onward
  way: Way
}

/**
 * Sends a request to the target whose turn it has. Resolves once its answer begins to go on, or its caller is gone; with
 * the error where no answer came. What the target did with it is told to those who choose targets, and to the figures.
 */
export function attempt(sent: Sent, turn: Turn): Promise<Error | undefined> {
  return new Promise((resolve) => new Attempt(sent, turn, resolve).begin())
}

/**
 * No field of it begins as one function and becomes another: with that V8 kept each request alive that was over, for the
 * short collections to copy until the next full one (docs/adr/0066).
 */
class Attempt {
  readonly #sent: Sent
  readonly #turn: Turn
  readonly #resolve: (error: Error | undefined) => void
  readonly #begun = performance.now()
  #timer: NodeJS.Timeout | undefined
  #answering: Answering | undefined
  #leave: (() => void) | undefined
  #head: {statusCode: number; headers: IncomingHttpHeaders} | undefined
  /** The answer, where somebody wants it besides its caller. */
  #kept: Collected | undefined
  #usage: AnswerUsage | undefined
  #isLate = false
  #isOver = false

  constructor(sent: Sent, turn: Turn, resolve: (error: Error | undefined) => void) {
    this.#sent = sent
    this.#turn = turn
    this.#resolve = resolve
  }

  begin(): void {
    const {parts, servers, onward, way} = this.#sent
    const {target, release} = this.#turn
    // One that takes no connections has failed each request that it was drawn for.
    way.enter(way.lanes()[0]?.release ?? release)
    way.enter(release)
    onward.exchange.raw.on('close', this.#closed)
    const kept = isKept(parts, onward, way) ? new Collected() : undefined
    this.#kept = kept
    this.#answering = servers.pass(target, onward, {
      headers: {[RELEASE_HEADER]: release},
      cors: onward.exchange.cors,
      begin: (status, headers) => this.#answered(status, headers),
      filter: onward.asking ? filterOf : undefined,
      tap: mayTellUsage(onward) ? (chunk) => this.#usage?.add(chunk) : undefined,
      // What its caller gets is in samples, and what the copy of its request is answered is compared with.
      keep: kept && ((chunk) => kept.add(chunk)),
      fail: (error) => this.#failed(error),
      broke: () => way.end('failed'),
    })
    if (this.#isOver) return
    this.#leave = parts.health.pulse.enter(target, (error) => this.#abort(error))
    const {deadline} = onward
    if (deadline === undefined) return
    this.#timer = setTimeout(() => this.#expire(), Math.max(0, deadline - performance.now()))
  }

  #abort(reason: Error): void {
    this.#answering?.abort(reason)
  }

  #answered(statusCode: number, headers: IncomingHttpHeaders): void {
    const {parts, onward} = this.#sent
    const {target} = this.#turn
    this.#head = {statusCode, headers}
    if (statusCode < 400 && mayTellUsage(onward) && headers['content-encoding'] === undefined)
      this.#usage = new AnswerUsage(String(headers['content-type'] ?? ''))
    parts.health.answered(target)
    if (statusCode >= 502 && statusCode <= 504) this.#countFailure()
    else parts.health.outliers.succeeded(target)
    onward.exchange.take()
    this.#resolve(undefined)
  }

  /** Also of a reader that went away: what it had was made for it. */
  #spend(): void {
    const {parts, onward} = this.#sent
    const used = this.#usage?.end()
    if (!used) return
    const {firstAt} = this.#usage!
    const firstMs = firstAt === undefined ? undefined : firstAt - this.#begun
    const {endpoint} = onward.call
    parts.clients.spend(onward.exchange, endpoint, used, firstMs)
    parts.measures.use(endpoint, this.#turn.release, used, firstMs)
  }

  #countRows(): void {
    const {parts, onward} = this.#sent
    const {endpoint, path} = onward.call
    const rows = rowsOf(path, onward.body)
    if (rows !== undefined) parts.measures.batch(endpoint, this.#turn.release, rows)
  }

  /** A reader that went away ends the work that was begun for it: tokens that nobody reads cost a GPU. */
  readonly #closed = (): void => {
    const {parts, servers, onward, way} = this.#sent
    const isWhole = onward.exchange.raw.writableFinished
    this.#end(isWhole)
    this.#spend()
    const outcome = isWhole && this.#head ? outcomeOf(this.#head.statusCode) : 'abandoned'
    if (outcome === 'answered') this.#countRows()
    way.end(outcome)
    if (!isWhole || !this.#head) this.#abort(new Error('the caller has gone'))
    else if (this.#kept) {
      const about = {release: this.#turn.release, ms: performance.now() - this.#begun}
      useAnswer(parts, servers, onward, way, {...keptOf(this.#head, this.#kept.kept), ...about})
    }
    this.#resolve(undefined)
  }

  #failed(error: Error): void {
    const {parts, onward} = this.#sent
    const {raw, isTaken} = onward.exchange
    if (this.#isOver || raw.destroyed || isTaken) return
    raw.removeListener('close', this.#closed)
    const code = causeCode(error)
    if (isNotConnected(code)) parts.health.refused(this.#turn.target, code === NO_SERVER)
    else if (isBroken(code) || code === 'UND_ERR_HEADERS_TIMEOUT' || this.#isLate) this.#countFailure(this.#isLate)
    this.#end(false)
    this.#resolve(error)
  }

  #countFailure(isLate = false): void {
    const {parts, onward, way} = this.#sent
    const {target, release} = this.#turn
    const lane = way.lanes().find((one) => one.release === release)
    const {outliers} = parts.health
    const among = lane?.targets ?? []
    if (isLate ? outliers.late(target, this.#begun, among) : outliers.failed(target, among))
      logLine(`endpoint ${onward.call.endpoint}: ${target} gets nothing for a while, as it failed again and again`)
  }

  #expire(): void {
    const {onward, way} = this.#sent
    this.#isLate = performance.now() - this.#begun >= LATE_MS
    way.end('abandoned') // it took at least that long
    const message = `endpoint ${onward.call.endpoint} did not answer before the request's deadline`
    this.#abort(new Failure(504, 'TIMED_OUT', message))
  }

  #end(answered: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#leave?.()
    this.#sent.parts.traffic.end(this.#turn.target, answered)
    this.#sent.parts.health.left(this.#turn.target)
    this.#turn.end()
  }
}

/** A client gets of a stream what it asked for itself. */
function filterOf(headers: IncomingHttpHeaders): WithoutUsage | undefined {
  const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
  return isStream && headers['content-encoding'] === undefined ? new WithoutUsage() : undefined
}

/** Calls of OpenAI's API; other protocols know no tokens. */
function mayTellUsage({call, exchange}: Onward): boolean {
  return exchange.method === 'POST' && call.path.startsWith('/v1/')
}
