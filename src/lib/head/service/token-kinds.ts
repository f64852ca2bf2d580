import type {HeadKeyLimits, HeadToken} from '../../protocol/index.ts'
import {Failure} from './failure.ts'

/** Of what ends when it is revoked. */
const STANDBY_MS = 3653 * 24 * 3_600_000

/** Who shows a token, and so what is open. */
export type Caller =
  | {kind: 'admin'}
  | {kind: 'run'; id: string; runId: string; experimentId: string}
  /** `client`: whose key it is, where it was made for one. `expiresAt`: milliseconds since 1970. */
  | {kind: 'endpoint'; id: string; endpoint: string; client?: string; limits: HeadKeyLimits; expiresAt: number}
  /** A node's agent: what is to run there. */
  | {kind: 'node'; id: string; node: string}
  /** A person's notebook or another machine: MLflow's API, as that person. */
  | {kind: 'personal'; id: string}
  /** A monitor of its own: the head's numbers, and nothing else. */
  | {kind: 'metrics'; id: string}
  /** The second head: what it needs to serve endpoints, and a certificate for these names. `node`: where it runs. */
  | {kind: 'standby'; id: string; node: string; names: string[]}
  /** The head of another rack: what was decided of one switch that both take part in. */
  | {kind: 'joint'; id: string; joint: string}
  /**
   * A browser that logged in: the rack's page (`look`: without what changes something), or without `opens` MLflow's
   * pages and nothing of /flexrack.
   */
  | {kind: 'session'; id: string; login: string; host: string; opens: 'page' | 'look' | undefined}

/** Who shows a token that is kept so. */
export function callerOf(id: string, kept: HeadToken): Caller {
  if (kept.kind === 'run') return {kind: 'run', id, runId: kept.runId!, experimentId: kept.experimentId!}
  if (kept.kind === 'personal' || kept.kind === 'metrics') return {kind: kept.kind, id}
  if (kept.kind === 'standby') return {kind: 'standby', id, node: kept.node ?? '', names: kept.names ?? []}
  if (kept.kind === 'joint') return {kind: 'joint', id, joint: kept.joint ?? ''}
  if (kept.kind === 'node') return {kind: 'node', id, node: kept.node ?? ''}
  if (kept.kind === 'endpoint') {
    const {endpoint = '', client, limits = {}, expiresAt} = kept
    return {kind: 'endpoint', id, endpoint, limits, expiresAt, ...(client !== undefined && {client})}
  }
  return {kind: 'session', id, login: kept.login ?? '', host: kept.host ?? '', opens: kept.opens}
}

export interface TokenRequest {
  kind?: unknown
  run_id?: unknown
  experiment_id?: unknown
  endpoint?: unknown
  client?: unknown
  requests_per_second?: unknown
  concurrency?: unknown
  tokens_per_minute?: unknown
  name?: unknown
  ttl_seconds?: unknown
  node?: unknown
  names?: unknown
  joint?: unknown
}

/** It ends when it is revoked: a standby that was not asked for a while must not be away when it is needed. */
export function readStandby({node, names}: TokenRequest): HeadToken {
  if (!isWord(node) || !isNames(names))
    throw new Failure(400, 'USAGE', 'a standby has a node, and names it is called by')
  return {kind: 'standby', hash: '', expiresAt: Date.now() + STANDBY_MS, node, names, createdAt: Date.now()}
}

/** A monitor's, which asks for as long as it is not taken away. Undefined where it has no name. */
export function readMonitor({name}: TokenRequest): HeadToken | undefined {
  if (!isWord(name) || name.length > 100) return undefined
  return {kind: 'metrics', hash: '', expiresAt: Date.now() + STANDBY_MS, name, createdAt: Date.now()}
}

function isNames(names: unknown): names is string[] {
  const isName = (name: unknown): boolean => typeof name === 'string' && /^[A-Za-z0-9.:-]{1,253}$/.test(name)
  return Array.isArray(names) && names.length > 0 && names.length <= 20 && names.every(isName)
}

export function isWord(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
