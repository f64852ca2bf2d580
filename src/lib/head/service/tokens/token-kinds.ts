import type {HeadKeyLimits, HeadRole, HeadToken} from '../../../protocol/index.ts'

/** Who shows a token, and so what is open. */
export type Caller =
  | {kind: 'admin'}
  /** `project`: in which it is tracked, where projects have roles. */
  | {kind: 'run'; id: string; runId: string; experimentId: string; project?: string; user?: string}
  /** A person who logged in, as a user of the head; `project` and `role`: the token is for no more (people/). */
  | {kind: 'user'; id: string; user: string; project?: string; role?: HeadRole}
  /** `client`: whose key it is, where it was made for one. `expiresAt`: milliseconds since 1970. */
  | {kind: 'endpoint'; id: string; endpoint: string; client?: string; limits: HeadKeyLimits; expiresAt: number}
  /** A node's agent: what is to run there. */
  | {kind: 'node'; id: string; node: string}
  /** A person's notebook or another machine: MLflow's API, as that person. */
  | {kind: 'personal'; id: string; project?: string}
  /** A monitor of its own: the head's numbers, and nothing else. */
  | {kind: 'metrics'; id: string}
  /** The second head: what it needs to serve endpoints, and a certificate for these names. `node`: where it runs. */
  | {kind: 'standby'; id: string; node: string; names: string[]}
  /** The head of another rack: what was decided of one switch that both take part in. */
  | {kind: 'joint'; id: string; joint: string}
  /**
   * A browser that logged in: the rack's page (`look`: without what changes something), or without `opens` MLflow's
   * pages and nothing of /flexrack. `user`: whose it is, where that is no one with the admin token.
   */
  | {
      kind: 'session'
      id: string
      login: string
      host: string
      opens: 'page' | 'look' | undefined
      user: string | undefined
    }

/** Who shows a token that is kept so. */
export function callerByToken(id: string, kept: HeadToken): Caller {
  const project = kept.project !== undefined && {project: kept.project}
  if (kept.kind === 'run')
    return {
      kind: 'run',
      id,
      runId: kept.runId!,
      experimentId: kept.experimentId!,
      ...project,
      ...(kept.user !== undefined && {user: kept.user}),
    }
  if (kept.kind === 'user')
    return {kind: 'user', id, user: kept.user ?? '', ...project, ...(kept.role !== undefined && {role: kept.role})}
  if (kept.kind === 'personal') return {kind: 'personal', id, ...project}
  if (kept.kind === 'metrics') return {kind: 'metrics', id}
  if (kept.kind === 'standby') return {kind: 'standby', id, node: kept.node ?? '', names: kept.names ?? []}
  if (kept.kind === 'joint') return {kind: 'joint', id, joint: kept.joint ?? ''}
  if (kept.kind === 'node') return {kind: 'node', id, node: kept.node ?? ''}
  if (kept.kind === 'endpoint') {
    const {endpoint = '', client, limits = {}, expiresAt} = kept
    return {kind: 'endpoint', id, endpoint, limits, expiresAt, ...(client !== undefined && {client})}
  }
  return {kind: 'session', id, login: kept.login ?? '', host: kept.host ?? '', opens: kept.opens, user: kept.user}
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
  targets?: unknown
  project?: unknown
  user?: unknown
}
