import {randomBytes} from 'node:crypto'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir, userInfo} from 'node:os'
import {join} from 'node:path'
import {CliError, isCliError, Secret, type Context} from '../base/index.ts'
import {openTracking, type ClaimWish, type Tracking} from '../head/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {requestJson} from '../tracking/index.ts'
import type {TrackingOrder} from '../protocol/index.ts'
import {readSource, type Source} from './source.ts'
import type {Unfilled} from './spec.ts'
import type {RunSpec} from './types.ts'

/** A run's token outlives any run one can think of; it is revoked when the run has ended. Seconds. */
const TTL_SECONDS = 60 * 24 * 3600

/** A run's record at the tracking server, and what its nodes need to write to it. */
export interface TrackedStart {
  runId: string
  experimentId: string
  artifactUri: string
  upstream: string
  /** Certificates (PEM) that the nodes trust there; undefined: those of their systems. */
  ca: string | undefined
  /** What ranks show the node's relay. */
  token: Secret
  /** What the relay shows the server; undefined: nothing, or the token. */
  authorization: Secret | undefined
  /** The token is the head's, for this run only. */
  isOwn: boolean
  commit: string | undefined
}

/**
 * Opens a project's tracking server: the one at `uri`, else the rack's head. Errors: HEAD_FAILED with the way out where
 * the rack has no head.
 */
export async function openTrainTracking(
  place: {rack: Rack; fleet: Fleet},
  uri: string | undefined,
  project: string,
  context: Context,
): Promise<Tracking> {
  try {
    // Still needed after the first Ctrl-C: a run that is stopped has a record, too.
    return await openTracking(
      {...place, manifest: {name: project, tracking: {...(uri !== undefined && {uri})}}},
      {...context, signal: context.kill},
    )
  } catch (error) {
    if (!isCliError(error, 'NOT_FOUND')) throw error
    throw new CliError('HEAD_FAILED', `${error.message}, and runs are tracked there`, {
      hint: `${error.hint ?? 'flexrack head start'}\nflexrack train --no-tracking`,
      cause: error,
    })
  }
}

/** What a record says of a run: what is run, in which environment, on which nodes. Pure. */
export function recordTags(spec: RunSpec, rack: string, environment: string | undefined): Record<string, string> {
  return {
    'flexrack.run': spec.run,
    'flexrack.project': spec.project,
    'flexrack.rack': rack,
    'flexrack.command': spec.command.join(' '),
    'flexrack.launcher': spec.launcher,
    'flexrack.nodes': spec.placements.map((one) => one.node.name).join(','),
    'flexrack.world_size': String(spec.worldSize),
    'mlflow.source.name': spec.command[0] ?? '',
    'mlflow.source.type': 'PROJECT',
    ...(environment && {'flexrack.environment': environment}),
  }
}

export interface NewRecord {
  run: string
  experiment: string
  tags: Record<string, string>
  user: string
  /**
   * The code's folder, or what is known of it; what differs from the commit is recorded with the run only where it is a
   * folder.
   */
  source: {folder: string} | Source
  /** What it has of the rack, for the head. */
  claim?: ClaimWish
}

/** Creates a run's record, which says from which code it is. */
export async function createRecord(
  tracking: Tracking,
  {run: name, experiment: experimentName, tags, user, source: from, claim}: NewRecord,
  context: Context,
): Promise<TrackedStart> {
  const [experiment, source] = await Promise.all([
    tracking.mlflow.ensureExperiment(experimentName),
    'folder' in from ? readSource(from.folder, context.signal) : from,
  ])
  const git: Record<string, string> =
    source.commit === undefined
      ? {}
      : {
          'mlflow.source.git.commit': source.commit,
          'mlflow.source.git.branch': source.branch ?? '',
          'flexrack.dirty': String(source.changed.length > 0),
        }
  const run = await tracking.mlflow.createRun({
    experimentId: experiment.id,
    name,
    user,
    tags: {...tags, 'mlflow.user': user, ...git},
  })
  if ('folder' in from) await keepChanges(tracking, run.id, source, context)
  const access = await tracking.openRun(run.id, experiment.id, TTL_SECONDS, claim)
  const isOwn = tracking.head !== undefined
  const authorization = access.basic
    ? `Basic ${Buffer.from(access.basic.reveal()).toString('base64')}`
    : access.token
      ? `Bearer ${access.token.reveal()}`
      : undefined
  return {
    runId: run.id,
    experimentId: experiment.id,
    artifactUri: run.artifactUri,
    upstream: tracking.nodeUri,
    ca: tracking.nodeCa,
    // The user's own token for another server stays between the relay and that server.
    token: isOwn && access.token ? access.token : new Secret(randomBytes(24).toString('base64url')),
    authorization: isOwn || authorization === undefined ? undefined : new Secret(authorization),
    isOwn,
    commit: source.commit,
  }
}

/**
 * The part of spec.json that tells a node where the run's record is, with the token: for a file that only the user can
 * read.
 */
export function trackingSpec(record: TrackedStart): Unfilled<TrackingOrder> {
  return {
    upstream: record.upstream,
    ...(record.ca !== undefined && {ca: record.ca}),
    token: record.token,
    authorization: record.authorization ?? null,
    own_token: record.isOwn,
    run_id: record.runId,
    experiment_id: record.experimentId,
    artifact_uri: record.artifactUri,
  }
}

/** For a run that never came to start: its token opens nothing any more. */
export async function revokeToken(tracking: Tracking, record: TrackedStart): Promise<void> {
  if (!record.isOwn || !tracking.head) return
  await requestJson({method: 'DELETE', url: `${tracking.head.uri}/flexrack/v1/tokens/self`, token: record.token})
}

/** What differs from the commit, as artifacts of a record. */
export async function keepChanges(
  tracking: Tracking,
  runId: string,
  {diff, changed}: Source,
  context: Context,
): Promise<void> {
  if (diff === '' && changed.length === 0) return
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-diff-'))
  try {
    await writeFile(join(folder, 'changes.diff'), diff, {mode: 0o600})
    await writeFile(join(folder, 'changed.txt'), `${changed.join('\n')}\n`, {mode: 0o600})
    for (const name of ['changes.diff', 'changed.txt'])
      await tracking.mlflow.uploadArtifact(runId, `source/${name}`, join(folder, name))
  } catch (error) {
    context.reporter.warn(`the uncommitted changes were not recorded: ${(error as Error).message}`)
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

/** Who starts the run: the login name here. */
export function userName(context: Context): string {
  try {
    return userInfo().username
  } catch {
    return context.env.USER ?? 'unknown'
  }
}
