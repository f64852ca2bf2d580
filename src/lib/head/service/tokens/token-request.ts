import type {HeadToken} from '../../../protocol/index.ts'
import {Failure} from '../failure.ts'
import {readKey} from './key-request.ts'
import {readTargets} from '../monitor.ts'
import type {TokenRequest} from './token-kinds.ts'

export const LONGEST_TTL_SECONDS = 90 * 24 * 3600
/** Of what ends when it is revoked. */
const STANDBY_MS = 3653 * 24 * 3_600_000

/** The token that is asked for, without its secret. `clientsOf`: who has a key of an endpoint. Errors: 400, 409. */
export function readToken(request: TokenRequest, clientsOf: (endpoint: string) => string[]): HeadToken {
  const ttl = secondsOf(request.ttl_seconds ?? 24 * 3600)
  const bare = {hash: '', expiresAt: Date.now() + Math.min(ttl, LONGEST_TTL_SECONDS) * 1000}
  const {kind, run_id: runId, experiment_id: experimentId, endpoint, name, node, joint, project} = request
  const inProject = isWord(project) && {project}
  if (kind === 'run' && isWord(runId) && isWord(experimentId))
    return {kind, ...bare, runId, experimentId, ...inProject, ...(isWord(request.user) && {user: request.user})}
  if (kind === 'endpoint' && isWord(endpoint) && request.client !== undefined)
    return keyOf(request, endpoint, ttl, clientsOf(endpoint))
  if (kind === 'endpoint' && isWord(endpoint)) return {kind, ...bare, endpoint}
  if (kind === 'personal' && isWord(name) && name.length <= 100)
    return {kind, ...bare, ...inProject, name, createdAt: Date.now()}
  const monitor = kind === 'metrics' ? readMonitor(request) : undefined
  if (monitor) return monitor
  if (kind === 'joint' && isWord(joint)) return {kind, ...bare, joint}
  if (kind === 'standby') return readStandby(request)
  if (kind === 'node' && isWord(node) && node.length <= 100) return {kind, ...bare, node}
  throw new Failure(
    400,
    'USAGE',
    'a token is for kind "run" with run_id and experiment_id, for kind "endpoint" with endpoint, for kind "node" with node, ' +
      'or for kind "personal" or "metrics" with name',
  )
}

export function secondsOf(ttl: unknown): number {
  if (typeof ttl !== 'number' || !(ttl > 0)) throw new Failure(400, 'USAGE', 'ttl_seconds must be a positive number')
  return ttl
}

/** Errors: 400, and 409 where the client has a key. */
function keyOf(request: TokenRequest, endpoint: string, ttl: number, clients: string[]): HeadToken {
  const {client, limits} = readKey(request, ttl)
  if (clients.includes(client))
    throw new Failure(409, 'CONFLICT', `${client} has a key for endpoint ${endpoint} already`)
  const now = Date.now()
  return {kind: 'endpoint', hash: '', expiresAt: now + ttl * 1000, endpoint, client, limits, createdAt: now}
}

/** It ends when it is revoked: a standby that was not asked for a while must not be away when it is needed. */
function readStandby({node, names}: TokenRequest): HeadToken {
  if (!isWord(node) || !isNames(names))
    throw new Failure(400, 'USAGE', 'a standby has a node, and names it is called by')
  return {kind: 'standby', hash: '', expiresAt: Date.now() + STANDBY_MS, node, names, createdAt: Date.now()}
}

/** A monitor's, which asks for as long as it is not taken away. Undefined where it has no name. */
function readMonitor({name, targets}: TokenRequest): HeadToken | undefined {
  if (!isWord(name) || name.length > 100) return undefined
  const told = targets !== undefined && {targets: readTargets(targets)}
  return {kind: 'metrics', hash: '', expiresAt: Date.now() + STANDBY_MS, name, createdAt: Date.now(), ...told}
}

function isNames(names: unknown): names is string[] {
  const isName = (name: unknown): boolean => typeof name === 'string' && /^[A-Za-z0-9.:-]{1,253}$/.test(name)
  return Array.isArray(names) && names.length > 0 && names.length <= 20 && names.every(isName)
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
