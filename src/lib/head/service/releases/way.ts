import {createHash} from 'node:crypto'
import type {CanaryRules} from '../../types.ts'
import type {EndpointRecord} from '../documents/endpoints.ts'
import type {Parts} from '../parts.ts'
import type {Outcome} from './measures.ts'

/** A release that a request may go to, and its servers. */
export interface Lane {
  release: string
  targets: string[]
}

/** Names the release that answered. */
export const RELEASE_HEADER = 'x-flexrack-release'

/** Of a document that names none, as tests and older command lines write it. */
const UNNAMED = 'active'

type WayParts = Pick<Parts, 'endpoints' | 'rollouts' | 'measures'>
type Headers = Record<string, string | string[] | undefined>

/**
 * Which releases one request goes to: drawn once, so that it stays with its release however often it is tried. Where
 * the canary takes no connections the active release answers in its place, and the canary has failed.
 */
export class Way {
  readonly #parts: WayParts
  readonly #endpoint: string
  readonly #draw: number
  readonly #isMeasured: boolean
  /** Releases that have counted it: one, of most. */
  #entered: string[] | undefined
  #end: ((outcome: Outcome) => void) | undefined
  #release: string | undefined
  /** The lanes of a record that has no canary: most are asked for again and again. */
  #known: {record: EndpointRecord; lanes: Lane[]} | undefined

  /** Health is asked of the active release, while it has requests at all, and not counted. */
  constructor(parts: WayParts, endpoint: string, headers: Headers, isHealth: boolean) {
    this.#parts = parts
    this.#endpoint = endpoint
    this.#isMeasured = !isHealth
    const canary = parts.endpoints.find(endpoint)?.document.canary
    this.#draw = isHealth ? 1 - Number.EPSILON : draw(endpoint, canary ?? undefined, headers)
  }

  /** In the order in which they are tried; read anew each time, as a switch in between counts. Empty: none is active. */
  lanes(): Lane[] {
    const record = this.#parts.endpoints.find(this.#endpoint)
    if (!record) return []
    if (this.#known?.record === record) return this.#known.lanes
    const active = activeLane(record)
    if (!active) return []
    const {canary} = record.document
    if (!canary || canary.targets.length === 0) {
      this.#known = {record, lanes: [active]}
      return this.#known.lanes
    }
    const {percent} = this.#parts.rollouts.of(this.#endpoint, canary)
    if (this.#draw * 100 >= percent) return [active]
    return [{release: canary.release, targets: canary.targets}, active]
  }

  /** The release that gets a copy of the request. */
  shadow(): CanaryRules | undefined {
    const canary = this.#isMeasured ? this.#parts.endpoints.find(this.#endpoint)?.document.canary : undefined
    return canary?.shadow ? canary : undefined
  }

  /** The request is sent to this release now: the one that it was at before has failed it. */
  enter(release: string): void {
    if (!this.#isMeasured || release === this.#release) return
    this.end('failed')
    this.#release = release
    if (this.#entered?.includes(release)) return // counted there already, once a request
    if (this.#entered) this.#entered.push(release)
    else this.#entered = [release]
    this.#end = this.#parts.measures.begin(this.#endpoint, release)
  }

  /** How it ended at the release that it is at; later calls change nothing. */
  end(outcome: Outcome): void {
    this.#end?.(outcome)
    this.#end = undefined
  }
}

/** What an answer of a model server says of it. 429 is its own: it has more to do than it can. */
export function outcomeOf(status: number): Outcome {
  if (status >= 500 || status === 429) return 'failed'
  return status >= 400 ? 'refused' : 'answered'
}

/** By release: the part of the requests that it gets now. */
export function percentsOf(name: string, record: EndpointRecord, rollouts: Parts['rollouts']): Record<string, number> {
  const active = activeLane(record)
  const {canary} = record.document
  const percent = canary ? rollouts.of(name, canary).percent : 0
  return {...(active && {[active.release]: 100 - percent}), ...(canary && {[canary.release]: percent})}
}

export function activeLane(record: EndpointRecord | undefined): Lane | undefined {
  const active = record?.document.active
  const targets = record?.running ?? active?.targets
  if (!active || !targets || targets.length === 0) return undefined
  return {release: active.release ?? UNNAMED, targets}
}

/**
 * From 0 to below 1: below the canary's part it gets the request. By a header's value it is the same for the same
 * value, and stays with the canary while its part grows; the release is hashed, too, so that not the same users meet
 * every new one.
 */
export function draw(endpoint: string, canary: CanaryRules | undefined, headers: Headers): number {
  const given = canary?.header === undefined ? undefined : headers[canary.header]
  if (given === undefined || given === '') return Math.random()
  const value = Array.isArray(given) ? given.join(', ') : given
  const digest = createHash('sha256').update(`${endpoint}\n${canary?.release}\n${canary?.since}\n${value}`).digest()
  return digest.readUIntBE(0, 6) / 2 ** 48
}
