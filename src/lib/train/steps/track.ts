import {CliError} from '../../base/index.ts'
import {fromEnv, fromStep} from '../../plan/index.ts'
import {createRecord, recordTags, trackingSpec} from '../track.ts'
import type {DataManifest} from '../../protocol/index.ts'
import type {RunSpec, SharedStart} from '../types.ts'
import {serverName, trackingFrom, trackingOf} from './reach.ts'
import type {Done, Tracked, TrackInput, TrainEnv, TrainStep} from './types.ts'

export interface RecordPlace {
  folder: string
  rack: string
  /** The manifest's server; undefined: the rack's head. */
  uri: string | undefined
  /** Hash of the first node's environment. */
  environment: string | undefined
  versions: DataManifest[]
  shared: SharedStart | undefined
}

/** None where the run is not tracked. Pure. */
export function trackSteps(
  spec: RunSpec,
  {folder, rack, uri, environment, versions, shared}: RecordPlace,
): TrainStep[] {
  if (!spec.tracked) return []
  const input: TrackInput = {
    server: trackingFrom(shared !== undefined),
    claim: spec.slurm ? null : fromStep('reserve'),
    run: spec.run,
    experiment: spec.experiment,
    data: versions.map(({name, digest, source}) => ({name, digest, source})),
    tags: {...recordTags(spec, rack, environment), ...shared?.tags},
    user: fromEnv('user'),
    source: shared ? fromEnv('shared', 'source') : {folder},
  }
  return [
    {
      id: 'track',
      node: null,
      kind: 'train.track',
      title: `Record run ${spec.run} in experiment ${spec.experiment} at ${serverName(uri, rack)}`,
      input,
      needs: [],
    },
  ]
}

export async function track(
  {server, claim, run, experiment, tags, source, data}: TrackInput,
  done: Done,
  {user, shared, context}: TrainEnv,
): Promise<Tracked> {
  const known = 'folder' in source ? source : shared?.source
  const tracking = trackingOf(server, done, shared)
  if (!known) throw new CliError('BUG', 'the plan takes a source for granted that its environment does not have')
  const record = await createRecord(
    tracking,
    {run, experiment, tags, user, source: known, ...(claim && {claim: done.of('train.reserve', claim).claim})},
    context,
  )
  if (data.length > 0) await tracking.mlflow.logInputs(record.runId, data)
  return {server: tracking, record, commit: record.commit ?? null, spec: trackingSpec(record)}
}
