import {CliError} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import {switchAcross} from './across.ts'
import type {EndpointDocument, EndpointRecord} from './document.ts'
import {putTogether} from './store.ts'

/** Endpoints of one rack that take part. */
export interface Members {
  rack: string
  head: HeadConnection
  endpoints: readonly string[]
}

/** What one endpoint's change says to the others. */
export interface Joint {
  /** Aborted when one of them cannot be switched, before any is: with its error. */
  readonly signal: AbortSignal
  /** This one is ready: its document is to be the endpoint's, with those of the others. */
  put(record: EndpointRecord, document: EndpointDocument): Promise<EndpointRecord>
  /** There is nothing to change at this one. */
  leave(endpoint: string): void
  /** This one cannot be switched, so none is. */
  fail(endpoint: string, error: Error): void
}

interface Waiting {
  record: EndpointRecord
  document: EndpointDocument
  settle(record: EndpointRecord): void
  fail(error: Error): void
}

/**
 * Changes of several endpoints that switch at the same moment: each waits until all others are ready, and then they change
 * all or none: by one write at the head of one rack, by promises of the heads of several. One that fails before ends the
 * others, which take back what they have started.
 */
export class Together {
  readonly #racks: readonly Members[]
  readonly #missing: Set<string>
  readonly #waiting = new Map<string, Map<string, Waiting>>()
  readonly #failed = new AbortController()
  #isSwitching = false

  constructor(racks: readonly Members[]) {
    this.#racks = racks
    this.#missing = new Set(racks.flatMap(({rack, endpoints}) => endpoints.map((one) => keyOf(rack, one))))
  }

  /** Aborted as Joint's. */
  get signal(): AbortSignal {
    return this.#failed.signal
  }

  /** Its part for endpoints of that rack. */
  at(rack: string): Joint {
    return {
      signal: this.signal,
      put: (record, document) => this.#put(rack, record, document),
      leave: (endpoint) => this.#ready(rack, endpoint),
      fail: (endpoint, error) => this.#fail(this.#racks.length > 1 ? `${endpoint} of rack ${rack}` : endpoint, error),
    }
  }

  #put(rack: string, record: EndpointRecord, document: EndpointDocument): Promise<EndpointRecord> {
    return new Promise((settle, fail) => {
      if (this.signal.aborted) return fail(this.signal.reason as Error)
      const here = this.#waiting.get(rack) ?? new Map<string, Waiting>()
      this.#waiting.set(rack, here.set(document.name, {record, document, settle, fail}))
      this.#ready(rack, document.name)
    })
  }

  #fail(which: string, error: Error): void {
    if (this.#isSwitching || this.signal.aborted) return
    const code = error instanceof CliError ? error.code : 'ENDPOINT_FAILED'
    const reason = new CliError(code, `endpoint ${which} could not be switched, so none was`, {cause: error})
    this.#failed.abort(reason)
    for (const here of this.#waiting.values()) for (const one of here.values()) one.fail(reason)
  }

  #ready(rack: string, endpoint: string): void {
    this.#missing.delete(keyOf(rack, endpoint))
    if (this.#isSwitching || this.#missing.size > 0 || this.#waiting.size === 0) return
    this.#isSwitching = true
    const parts = this.#racks.flatMap(({rack: name, head}) => {
      const changes = [...(this.#waiting.get(name)?.values() ?? [])]
      return changes.length > 0 ? [{rack: name, head, changes}] : []
    })
    switchAll(parts).then(
      (results) =>
        results.forEach((result, at) =>
          parts[at]!.changes.forEach((one, index) =>
            result.status === 'fulfilled' ? one.settle(result.value[index]!) : one.fail(result.reason as Error),
          ),
        ),
      (error: Error) => parts.forEach(({changes}) => changes.forEach((one) => one.fail(error))),
    )
  }
}

async function switchAll(
  parts: {rack: string; head: HeadConnection; changes: Waiting[]}[],
): Promise<PromiseSettledResult<EndpointRecord[]>[]> {
  const [only] = parts
  if (!only || parts.length > 1) return switchAcross(parts)
  return [{status: 'fulfilled', value: await putTogether(only.head, only.changes)}]
}

function keyOf(rack: string, endpoint: string): string {
  return `${rack}/${endpoint}`
}
