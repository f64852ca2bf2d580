import {CliError, ownerName, type Context} from '../../lib/base/index.ts'
import {carryOutPersonal, isReached, planPersonal, type TrackingEnv} from '../../lib/access/index.ts'
import type {HeadConnection} from '../../lib/head/index.ts'
import type {Session} from '../base/session.ts'

export interface TrackingAccess {
  env: TrackingEnv
  /** Id of the token, for `tracking tokens --end`. */
  token: string
  /** Milliseconds since 1970. */
  expiresAt: number
  /** The certificates to trust, and no others (PEM); none where the system's are right. */
  ca?: string | undefined
  /** Whether this machine reaches the address. */
  reached: boolean
}

/** The plan of it, by what the flags say. */
export function envPlan(
  {rack}: Session,
  {name, seconds}: {name: string | undefined; seconds: number},
  context: Context,
): ReturnType<typeof planPersonal> {
  return planPersonal(rack.head.node, name ?? ownerName(context), seconds)
}

/**
 * Makes a token, and says all that a client needs beside it. With `forward` the address is that of the connection here.
 */
export async function openAccess(
  head: HeadConnection,
  session: Session,
  plan: ReturnType<typeof planPersonal>,
  forward: boolean,
  context: Context,
): Promise<TrackingAccess> {
  const [{made}, file, reached] = await Promise.all([
    carryOutPersonal(plan, head, context),
    forward ? undefined : head.certificates(),
    forward || isReached(head.nodeUri, head.nodeCa),
  ])
  if (!made) throw new Error('the plan made no token')
  const experiment = session.manifest?.tracking.experiment
  const project = session.manifest && (await keptApart(head, session.manifest.name))
  return {
    env: {
      MLFLOW_TRACKING_URI: forward ? head.uri : head.nodeUri,
      MLFLOW_TRACKING_TOKEN: made.token.reveal(),
      ...(file !== undefined && {MLFLOW_TRACKING_SERVER_CERT_PATH: file}),
      ...(project !== undefined && {MLFLOW_WORKSPACE: project}),
      ...(experiment !== undefined && {MLFLOW_EXPERIMENT_NAME: experiment}),
    },
    token: made.id,
    expiresAt: made.expiresAt,
    ca: forward ? undefined : head.nodeCa,
    reached,
  }
}

/** The project, where it is a workspace of MLflow: without its name the client would mean the default one. */
async function keptApart(head: HeadConnection, name: string): Promise<string | undefined> {
  return (await head.projects()).includes(name) ? name : undefined
}

/**
 * Shows an access through this connection, and keeps both until Ctrl-C. Errors: NODE_UNREACHABLE where the connection
 * is lost.
 */
export async function keepForward(
  head: HeadConnection,
  session: Session,
  plan: ReturnType<typeof planPersonal>,
  show: (access: TrackingAccess) => void,
  context: Context,
): Promise<undefined> {
  const access = await openAccess(head, session, plan, true, context)
  show(access)
  const ended = new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve(), {once: true}))
  if (!context.signal.aborted) await Promise.race([ended, head.closed])
  if (!context.signal.aborted)
    throw new CliError(
      'NODE_UNREACHABLE',
      `the connection to ${session.rack.head.node} was lost, and with it the way to the tracking server`,
      {hint: 'flexrack tracking env --forward'},
    )
  await head.request('DELETE', `/flexrack/v1/tokens/${access.token}`)
}
