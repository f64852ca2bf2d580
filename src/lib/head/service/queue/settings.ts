import type {ServingProtocol} from '../../../protocol/index.ts'
import type {EndpointRecord} from '../documents/endpoints.ts'
import {Failure} from '../failure.ts'

/** What an endpoint's document may say of its queue; what it does not say is the default. */
export interface QueueRules {
  /** The most requests that wait. */
  requests?: number
  /** The most bytes of bodies that wait. */
  bytes?: number
  /** The longest that a request waits. */
  seconds?: number
  /** Requests under way at one server. */
  concurrency?: number
  /** Seconds that a server may be silent with a request; a caller's deadline goes before it. */
  answer?: number
}

const DEFAULTS = {requests: 1000, bytes: 64 * 1024 ** 2, seconds: 15, answer: 300}

/** What each may be; `whole`: of what there is no part. */
const RANGES: Record<keyof QueueRules, {least: number; most: number; whole: boolean}> = {
  requests: {least: 0, most: 100_000, whole: true},
  bytes: {least: 0, most: 2 ** 40, whole: true},
  seconds: {least: 0, most: 3600, whole: false},
  concurrency: {least: 1, most: 100_000, whole: true},
  answer: {least: 1, most: 86_400, whole: false},
}

/**
 * What a server gets at once: what is more waits here, where it is divided fairly between clients. OpenAI's servers
 * make batches of what is under way themselves, so they get as much as there is; the bound is the head's own.
 */
const CONCURRENCY: Record<ServingProtocol, number> = {v2: 64, mlflow: 64, openai: 1024}

/** Of a document, which is never changed: another one takes its place. */
const known = new WeakMap<EndpointRecord['document'], Required<QueueRules>>()
const NO_DOCUMENT: EndpointRecord['document'] = {}

/** The rules that hold for an endpoint now. */
export function rulesOf(record: EndpointRecord | undefined): Required<QueueRules> {
  const document = record?.document ?? NO_DOCUMENT
  const found = known.get(document)
  if (found) return found
  const {queue, active} = document
  const rules = {...DEFAULTS, concurrency: CONCURRENCY[active?.protocol ?? 'v2'], ...queue}
  known.set(document, rules)
  return rules
}

/** 400 where the gateway could not use it. */
export function checkQueue(queue: unknown): void {
  if (queue === undefined) return
  if (typeof queue !== 'object' || queue === null || Array.isArray(queue))
    throw new Failure(400, 'USAGE', 'queue must be an object')
  for (const [name, {least, most, whole}] of Object.entries(RANGES)) {
    const value = (queue as Record<string, unknown>)[name]
    if (value === undefined) continue
    const isNumber = whole ? Number.isSafeInteger(value) : Number.isFinite(value)
    if (!isNumber || (value as number) < least || (value as number) > most)
      throw new Failure(400, 'USAGE', `queue.${name} must be a number from ${least} to ${most}`)
  }
}
