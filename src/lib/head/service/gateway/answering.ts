import type {IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse} from 'node:http'
import type {Dispatcher} from 'undici'
import {backwardHeaders} from '../onward.ts'
import {withoutCors, withVary} from './cors.ts'
import {ownMemoryOf} from '../limits/spent.ts'

/** What of the pieces of an answer goes on; `end` is what it has kept back. */
export interface Filter {
  add(chunk: Buffer): Buffer
  end(): Buffer
}

/** Of an answer that is on its way to the caller. */
export interface AnswerRules {
  /** Headers that are put to those of the model server. */
  headers: Record<string, string>
  /** And in the place of what it says to browsers, which is not its to say; undefined where there is no such rule. */
  cors: Record<string, string> | undefined
  /** An error where this is no answer of a model server. */
  refuse(status: number, headers: IncomingHttpHeaders): Error | undefined
  /** Its head has come, and is about to go on. */
  begin(status: number, headers: IncomingHttpHeaders): void
  /** By the head of an answer: what takes something out of its pieces. */
  filter: ((headers: IncomingHttpHeaders) => Filter | undefined) | undefined
  /** Every piece that comes. */
  tap: ((chunk: Buffer) => void) | undefined
  /** Every piece that goes on. */
  keep: ((chunk: Buffer) => void) | undefined
  /** No answer has come; nothing has gone on. */
  fail(error: Error): void
  /** It ended in its middle. The caller's connection is broken off, which nobody takes for its end. */
  broke(): void
}

/** Up to so many bytes an answer is a string: node:http joins its head to strings alone, and writes buffers apart. */
const SMALL = 12 * 1024

/**
 * Passes the answer of a model server on as it comes, at the caller's pace, straight from one connection to the other:
 * streams between them, with their events and copies of headers, cost more than all else of a small request. What came
 * whole goes out whole, as a write costs more than all else of it.
 */
export class Answering implements Dispatcher.DispatchHandler {
  readonly #raw: ServerResponse
  readonly #rules: AnswerRules
  #controller: Dispatcher.DispatchController | undefined
  #abortion: Error | undefined
  #begun = false
  /** Bytes of the answer, where its head says how many. */
  #length = -1
  #filter: Filter | undefined
  #isOver = false

  constructor(raw: ServerResponse, rules: AnswerRules) {
    this.#raw = raw
    this.#rules = rules
  }

  /** Ends what is under way at the model server; `fail` is told where nothing has come yet. */
  abort(reason: Error): void {
    if (this.#isOver || this.#abortion) return
    this.#abortion = reason
    this.#controller?.abort(reason)
    this.#end(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#abortion) controller.abort(this.#abortion)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isOver || status < 200) return
    try {
      const refused = this.#rules.refuse(status, headers)
      if (refused) throw refused
      this.#rules.begin(status, headers)
      // From here on nobody else answers the caller: a head that cannot be written breaks the connection off, too.
      this.#begun = true
      this.#filter = this.#rules.filter?.(headers)
      if (this.#filter) delete headers['content-length']
      this.#length = Number(headers['content-length'] ?? -1)
      this.#raw.writeHead(status, this.#headersOf(headers))
    } catch (error) {
      this.#end(error as Error)
      controller.abort(error as Error)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#rules.tap?.(chunk)
    if (chunk.length === this.#length && this.#length <= SMALL) {
      this.#rules.keep?.(chunk)
      this.#isOver = true
      this.#raw.end(chunk.toString('latin1'), 'latin1')
      return
    }
    const left = this.#filter ? this.#filter.add(chunk) : chunk
    if (left.length === 0) return
    this.#rules.keep?.(left)
    if (this.#write(left)) return
    controller.pause()
    this.#raw.once('drain', () => controller.resume())
  }

  #headersOf(given: IncomingHttpHeaders): OutgoingHttpHeaders {
    const {headers, cors} = this.#rules
    const left = withoutCors(backwardHeaders(given))
    return cors ? {...left, ...withVary(given, cors), ...headers} : {...left, ...headers}
  }

  /** False where the caller is to be waited for. What is not read again is given back as soon as it has been written. */
  #write(chunk: Buffer): boolean {
    const memory = this.#rules.tap || this.#rules.keep ? undefined : ownMemoryOf(chunk)
    if (!memory) return this.#raw.write(chunk)
    return this.#raw.write(chunk, (error) => void (error ?? memory.transfer(0)))
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    this.#isOver = true
    const rest = this.#filter?.end()
    if (rest) this.#rules.keep?.(rest)
    this.#raw.end(rest)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error)
  }

  #end(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    if (!this.#begun) return this.#rules.fail(error)
    this.#rules.broke()
    this.#raw.destroy()
  }
}
