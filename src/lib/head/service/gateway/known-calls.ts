import {readCall, type GatewayCall, type Served} from './calls.ts'
import {pathOf, requireQuery} from '../path.ts'

/** URLs that are known; with more, all are forgotten. */
const MOST_KNOWN = 1000
/** A longer one is read each time, and so is one with a query, which is another one with most requests. */
const LONGEST_KNOWN = 300

/** What `/endpoints/<name>/…` begins with. */
const ENDPOINT = /^\/endpoints\/([^/?]+)\//
const NOTHING: Served = {}

/** What a URL says, whoever asks. */
export interface Place {
  endpoint: string
  /** In its plain form (pathOf). */
  path: string
  /** What was asked for there last: `served` is that endpoint's as long as its document is. */
  last: {method: string; served: Served; call: GatewayCall} | undefined
}

/** The name of the endpoint that a URL is of; undefined of another one. */
export function endpointOf(url: string): string | undefined {
  return ENDPOINT.exec(url)?.[1]
}

/**
 * The calls that URLs make. Clients ask for the same again and again: what comes of it is the same, too, and to read it
 * anew costs as much as to send it on. Whether a caller may is not known here.
 */
export class KnownCalls {
  readonly #places = new Map<string, Place>()

  /** Errors: 400. */
  placeOf(url: string): Place {
    const known = this.#places.get(url)
    if (known) return known
    const path = pathOf(url)
    requireQuery(url)
    return {endpoint: endpointOf(url)!, path, last: undefined}
  }

  /** For a caller who may ask. Errors: 404. */
  callOf(place: Place, url: string, method: string, served: Served = NOTHING): GatewayCall {
    const {last, endpoint, path} = place
    if (last && last.method === method && last.served === served) return last.call
    const call = readCall(endpoint, served, method, path)
    place.last = {method, served, call}
    if (url.length <= LONGEST_KNOWN && url === path) {
      if (this.#places.size >= MOST_KNOWN) this.#places.clear()
      this.#places.set(url, place)
    }
    return call
  }
}
