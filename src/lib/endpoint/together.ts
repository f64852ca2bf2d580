import {CliError} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import type {EndpointDocument, EndpointRecord} from './document.ts'
import {putTogether} from './store.ts'

interface Waiting {
  record: EndpointRecord
  document: EndpointDocument
  settle(record: EndpointRecord): void
  fail(error: Error): void
}

/**
 * Changes of several endpoints that switch at the same moment: each waits until all others are ready, and then the head
 * takes all documents or none. One that fails before ends the others, which take back what they have started.
 */
export class Together {
  readonly #head: HeadConnection
  readonly #members: Set<string>
  readonly #waiting = new Map<string, Waiting>()
  readonly #failed = new AbortController()
  #isSwitching = false

  constructor(head: HeadConnection, endpoints: readonly string[]) {
    this.#head = head
    this.#members = new Set(endpoints)
  }

  /** Aborted when one of them cannot be switched, before any is: with its error. */
  get signal(): AbortSignal {
    return this.#failed.signal
  }

  /** This one is ready: its document is to be the endpoint's, with those of the others. */
  put(record: EndpointRecord, document: EndpointDocument): Promise<EndpointRecord> {
    return new Promise((settle, fail) => {
      if (this.signal.aborted) return fail(this.signal.reason as Error)
      this.#waiting.set(document.name, {record, document, settle, fail})
      this.#switch()
    })
  }

  /** There is nothing to change at this one. */
  leave(endpoint: string): void {
    this.#members.delete(endpoint)
    this.#switch()
  }

  /** This one cannot be switched, so none is. */
  fail(endpoint: string, error: Error): void {
    if (this.#isSwitching || this.signal.aborted) return
    const code = error instanceof CliError ? error.code : 'ENDPOINT_FAILED'
    const reason = new CliError(code, `endpoint ${endpoint} could not be switched, so none was`, {cause: error})
    this.#failed.abort(reason)
    for (const one of this.#waiting.values()) one.fail(reason)
  }

  #switch(): void {
    if (this.#isSwitching || this.#members.size === 0 || this.#waiting.size < this.#members.size) return
    this.#isSwitching = true
    const all = [...this.#waiting.values()]
    putTogether(this.#head, all).then(
      (records) => all.forEach((one, index) => one.settle(records[index] as EndpointRecord)),
      (error: Error) => all.forEach((one) => one.fail(error)),
    )
  }
}
