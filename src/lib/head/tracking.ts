import {isCliError, Secret, type Context} from '../base/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {openMlflow, type Mlflow} from '../tracking/index.ts'
import type {ClaimWish} from './types.ts'
import {connectHead, type HeadConnection} from './connect.ts'

/** The tracking server of a project, whoever runs it. */
export interface Tracking {
  /** A client from here, with all rights. */
  mlflow: Mlflow
  /**
   * Clients for what is not in the project's workspace: the default one, with what was made before `project add`, and the
   * other projects'. Some may be closed to who asks. Asked once.
   */
  elsewhere(): Promise<Mlflow[]>
  /** Base URL that nodes use: what a run's relay passes calls on to. */
  nodeUri: string
  /** Certificates (PEM) that nodes trust there, and no others; undefined: those of their systems. */
  nodeCa: string | undefined
  /** The rack's head; undefined where the manifest names another server. */
  head: HeadConnection | undefined
  /**
   * What a run on a node shows the server: a token of its own from the head, or the user's own for another server.
   * `claim`: what it has, for the head, until that token ends.
   */
  openRun(runId: string, experimentId: string, ttlSeconds: number, claim?: ClaimWish): Promise<RunAccess>
  /**
   * What a node that completes a run's record in the user's name is given: as run.reconcile takes it. Holds a secret.
   */
  userAccess(): Promise<{upstream?: string; token?: string; ca?: string}>
  close(): Promise<void>
}

export interface RunAccess {
  /** Bearer token; undefined where the server wants none, or a user and password. */
  token: Secret | undefined
  /** `user:password`. */
  basic: Secret | undefined
  /** Milliseconds since 1970; undefined where it does not end. */
  expiresAt: number | undefined
}

/**
 * The manifest's `tracking.uri` (with MLFLOW_TRACKING_TOKEN, or _USERNAME and _PASSWORD, of the user's environment),
 * else the rack's head. Errors: those of connectHead.
 */
export async function openTracking(
  place: {rack: Rack; fleet: Fleet; manifest?: {name?: string; tracking: {uri?: string}} | undefined},
  context: Context,
): Promise<Tracking> {
  const uri = place.manifest?.tracking.uri
  return uri === undefined ? throughHead(place, context) : elsewhere(uri, context)
}

async function throughHead(
  {rack, fleet, manifest}: Parameters<typeof openTracking>[0],
  context: Context,
): Promise<Tracking> {
  const head = await connectHead(rack, fleet, context)
  const project = manifest?.name
  const clientOf = (one: string | undefined): Mlflow =>
    openMlflow({uri: head.uri, token: head.token, project: one, signal: context.signal})
  let others: Promise<Mlflow[]> | undefined
  return {
    head,
    elsewhere: () => (others ??= othersOf(head, project).then((names) => names.map(clientOf))),
    nodeUri: head.nodeUri,
    nodeCa: head.nodeCa,
    userAccess: async () => ({
      upstream: head.nodeUri,
      token: (await recordToken(head, project)).reveal(),
      ...(head.nodeCa !== undefined && {ca: head.nodeCa}),
    }),
    mlflow: clientOf(project),
    async openRun(runId, experimentId, ttlSeconds, claim) {
      const request = {kind: 'run', run_id: runId, experiment_id: experimentId, ttl_seconds: ttlSeconds, project, claim}
      const {token, expires_at: expiresAt} = await head.request<{token: string; expires_at: number}>(
        'POST',
        '/flexrack/v1/tokens',
        request,
      )
      return {token: new Secret(token), basic: undefined, expiresAt}
    },
    close: () => head.close(),
  }
}

/** Projects that are open to who asks; undefined is the default workspace. Where no project is kept apart there are none. */
async function othersOf(head: HeadConnection, project: string | undefined): Promise<(string | undefined)[]> {
  const names = await head.projects()
  if (names.length === 0) return []
  return [...(project === undefined ? [] : [undefined]), ...names.filter((one) => one !== project)]
}

/** A node is given no more than the project that it is about, where that is kept apart. Errors: those of request. */
async function recordToken(head: HeadConnection, project: string | undefined): Promise<Secret> {
  if (project === undefined) return head.token
  try {
    const {token} = await head.request<{token: string | null}>('POST', '/flexrack/v1/people/record-token', {project})
    return token === null ? head.token : new Secret(token)
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return head.token // a head of an older version
    throw error
  }
}

function elsewhere(uri: string, context: Context): Tracking {
  const {MLFLOW_TRACKING_TOKEN: token, MLFLOW_TRACKING_USERNAME: user, MLFLOW_TRACKING_PASSWORD: password} = context.env
  const access = {
    token: token ? new Secret(token) : undefined,
    basic: !token && user && password ? new Secret(`${user}:${password}`) : undefined,
  }
  return {
    head: undefined,
    elsewhere: () => Promise.resolve([]),
    nodeUri: uri,
    nodeCa: undefined,
    userAccess: () => Promise.resolve({}),
    mlflow: openMlflow({
      uri,
      ...(access.token && {token: access.token}),
      ...(access.basic && {basic: access.basic}),
      signal: context.signal,
    }),
    openRun: () => Promise.resolve({...access, expiresAt: undefined}),
    close: () => Promise.resolve(),
  }
}
