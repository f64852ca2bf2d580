import {Failure} from '../failure.ts'
import type {EndpointRecord} from './endpoints.ts'
import {checkCors} from '../gateway/cors.ts'
import {checkQueue} from '../queue/settings.ts'
import {checkActive, checkCanary} from '../releases/check.ts'

/** An endpoint's new document, over the revision that was read. */
export interface Change {
  name: string
  revision: unknown
  document: EndpointRecord['document']
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i
/** In one change: what is more is no deploy. */
const MOST_TOGETHER = 50

/** What the gateway goes by, as it must be. Throws 400. */
export function checkDocument(name: string, document: unknown): EndpointRecord['document'] {
  if (!NAME.test(name)) {
    const message = `${name} cannot be an endpoint's name: letters, digits, dot, dash, underscore`
    throw new Failure(400, 'USAGE', message)
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new Failure(400, 'USAGE', 'document must be an object')
  checkActive((document as {active?: unknown}).active)
  checkCanary((document as {canary?: unknown}).canary)
  checkQueue((document as {queue?: unknown}).queue)
  checkCors((document as {cors?: unknown}).cors)
  return document as EndpointRecord['document']
}

/** Changes of several endpoints, each of another one. A canary is not put beside a release together with others. Throws 400. */
export function readChanges(given: unknown): Change[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > MOST_TOGETHER)
    throw new Failure(400, 'USAGE', `changes must be 1 to ${MOST_TOGETHER} of {name, revision, document}`)
  const changes = given.map((one: unknown): Change => {
    const {name, revision, document} = (one ?? {}) as Record<string, unknown>
    if (typeof name !== 'string') throw new Failure(400, 'USAGE', 'a change needs the name of its endpoint')
    return {name, revision, document: checkDocument(name, document)}
  })
  if (new Set(changes.map(({name}) => name)).size < changes.length)
    throw new Failure(400, 'USAGE', 'each endpoint is changed once')
  const beside = changes.find(({document}) => document.canary)
  if (beside) throw new Failure(400, 'USAGE', `endpoint ${beside.name} has a canary, and is not changed with others`)
  return changes
}
