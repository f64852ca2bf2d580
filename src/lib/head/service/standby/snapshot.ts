import type {HeadRollout, HeadToken} from '../../../protocol/index.ts'
import {checkDocument} from '../documents/endpoint-changes.ts'
import type {EndpointRecord} from '../documents/endpoints.ts'
import {checkActive} from '../releases/check.ts'
import type {Parts} from '../parts.ts'

/** Another one is not read: a standby keeps what it has until it is of the same version as its head. */
const FORMAT = 1

/**
 * All that a standby needs to serve endpoints, and to be the head: documents, how far canaries are, hashes of keys. No
 * token is in it; what the manifest puts into the environment of a server of one's own is, as it is in its document.
 */
export interface Snapshot {
  format: number
  /** Of Followers. */
  version: string
  endpoints: Record<string, EndpointRecord>
  rollouts: Record<string, HeadRollout>
  tokens: Record<string, HeadToken>
  /** What is trusted in the rack, PEM. */
  ca: string
}

/** Of a head. */
export function takeSnapshot({endpoints, rollouts, tokens, authority, followers}: Parts): Snapshot {
  return {
    format: FORMAT,
    version: followers.version,
    endpoints: Object.fromEntries(endpoints.names().map((name) => [name, endpoints.get(name)])),
    rollouts: rollouts.all(),
    tokens: tokens.forFollowers(),
    ca: authority.trusted,
  }
}

/** What came is a snapshot, whole and of this format; throws where it is not, with what is wrong. */
export function readSnapshot(given: unknown): Snapshot {
  const {format, version, endpoints, rollouts, tokens, ca} = object(given, 'the answer')
  if (format !== FORMAT)
    throw new Error(
      `the first head is of another version (format ${String(format)}, here ${FORMAT}): flexrack head start`,
    )
  if (typeof version !== 'string' || typeof ca !== 'string' || !ca.includes('BEGIN CERTIFICATE'))
    throw new Error('the answer has no version, or no certificates')
  for (const [name, record] of Object.entries(object(endpoints, 'endpoints'))) {
    const {revision, document, running} = object(record, `endpoint ${name}`)
    checkActive({targets: running})
    if (!Number.isInteger(revision)) throw new Error(`endpoint ${name} has no revision`)
    checkDocument(name, document)
  }
  for (const [name, rollout] of Object.entries(object(rollouts, 'rollouts'))) {
    checkDocument(name, {}) // a name of files, here too
    checkRollout(name, rollout)
  }
  for (const [id, kept] of Object.entries(object(tokens, 'tokens'))) checkToken(id, kept)
  return given as Snapshot
}

function checkRollout(name: string, given: unknown): void {
  const {release, since, percent, state} = object(given, `rollout ${name}`)
  const isPercent = typeof percent === 'number' && percent >= 0 && percent <= 100
  if (typeof release !== 'string' || typeof since !== 'string' || !isPercent || typeof state !== 'string')
    throw new Error(`the rollout of ${name} is not whole`)
}

/** A standby takes nothing but what opens endpoints: no head can make it trust another kind. */
function checkToken(id: string, given: unknown): void {
  const {kind, hash, expiresAt, endpoint} = object(given, `token ${id}`)
  const isHash = typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash)
  if (kind !== 'endpoint' || !isHash || typeof expiresAt !== 'number' || typeof endpoint !== 'string')
    throw new Error(`token ${id} is not one of an endpoint`)
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Error(`${what} is not an object`)
}
