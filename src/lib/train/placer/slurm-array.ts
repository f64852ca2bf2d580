import {ownVersion, rangesOf, throwIfInterrupted, type Context} from '../../base/index.ts'
import {DATA_HANDLERS, dataSteps} from '../../data/index.ts'
import type {Tracking} from '../../head/index.ts'
import {executePlan, throwIfFailed} from '../../plan/index.ts'
import type {DataManifest, RunOrder} from '../../protocol/index.ts'
import type {FoundRun} from '../../runs/index.ts'
import {withVersions} from '../data.ts'
import {filledSpec, openTrainEnv} from '../env.ts'
import {requestRun} from './slurm-request.ts'
import {createRecord, recordTags, revokeToken, trackingSpec, userName, type TrackedStart} from '../track.ts'
import type {SharedStart, TrainChoice, TrainPlace} from '../types.ts'
import {slurmScript} from './slurm-script.ts'
import {placesOf, slurmTemplate, type SlurmSpecified} from './slurm-template.ts'

/** Runs that are tasks of one job of Slurm: see sbatch(1), --array. */
export interface SlurmArray {
  /** The job's; a run's id is this, a dash and its task. */
  name: string
  /** Tasks that Slurm runs at the same time at most. */
  parallel: number
  shared: SharedStart
  tasks: {task: number; choice: TrainChoice}[]
}

/** Records that are made at the same time. */
const AT_ONCE = 8

/**
 * Starts runs as tasks of one job, from that login node; those whose number Slurm allows (below `arrays`), which may be
 * none. They differ in their spec.json alone. Errors: those of requestRun; REFUSED by Slurm, CONFLICT where such a run
 * is there, and then there are none; INTERRUPTED.
 */
export async function startArray(
  {node, arrays}: {node: string; arrays: number},
  whole: TrainPlace,
  {name, parallel, shared, tasks}: SlurmArray,
  context: Context,
): Promise<FoundRun[]> {
  const own = tasks.filter(({task}) => task < arrays)
  const {manifest, versions} = await withVersions(whole.manifest, context)
  const place = {...whole, manifest}
  const specs = own.map(({choice}) => requestRun(place.manifest, place.rack, choice) as SlurmSpecified)
  const [first] = specs
  if (!first) return []
  const workspace = shared.workspaces.get(node)
  const records: TrackedStart[] = []
  try {
    for (let at = 0; at < specs.length; at += AT_ONCE) {
      throwIfInterrupted(context.signal)
      const some = specs
        .slice(at, at + AT_ONCE)
        .map((spec, index) =>
          record(
            spec,
            place,
            workspace?.environment?.hash,
            own[at + index]?.choice.shared ?? shared,
            versions,
            context,
          ),
        )
      records.push(...(await Promise.all(some)))
    }
    const version = await ownVersion()
    const full = specs.map((spec, index) =>
      specOf(
        spec,
        node,
        {name, task: own[index]?.task as number},
        records[index] as TrackedStart,
        {place, shared, version},
        context,
      ),
    )
    const env = openTrainEnv(place, {version, variables: {}}, context)
    const host = await env.host(node)
    throwIfFailed(
      await executePlan(
        {command: 'data push', steps: dataSteps([node], versions, place.rack.dataLimit ?? null)},
        DATA_HANDLERS,
        env,
        context,
      ),
    )
    const script = slurmScript(
      {...first, run: name},
      {...placesOf(host, workspace, `${name}-`), array: `${rangesOf(own.map(({task}) => task))}%${parallel}`},
    )
    const started = await host.call('slurm.submit_array', {name, tasks: full, script}, {signal: context.kill})
    return started.map((one) => ({run: one.run, nodes: [one]}))
  } catch (error) {
    await Promise.all(records.map((one) => abandon(shared.tracking, one)))
    throw error
  }
}

async function record(
  spec: SlurmSpecified,
  {rack, manifest}: TrainPlace,
  environment: string | undefined,
  {tracking, tags, source}: SharedStart,
  versions: DataManifest[],
  context: Context,
): Promise<TrackedStart> {
  const made = await createRecord(
    tracking,
    {
      run: spec.run,
      experiment: manifest.tracking.experiment,
      tags: {...recordTags(spec, rack.name, environment), ...tags},
      user: userName(context),
      source,
    },
    context,
  )
  if (versions.length > 0) await tracking.mlflow.logInputs(made.runId, versions)
  return made
}

/** spec.json of a task, with a secret of its own. */
function specOf(
  spec: SlurmSpecified,
  node: string,
  array: {name: string; task: number},
  made: TrackedStart,
  {place, shared, version}: {place: TrainPlace; shared: SharedStart; version: string},
  context: Context,
): RunOrder {
  const template = slurmTemplate(spec, node, shared.workspaces.get(node))
  const full = {
    ...template,
    slurm: {...template.slurm, array},
    commit: made.commit ?? null,
    tracking: trackingSpec(made),
  }
  return filledSpec(full, {at: () => undefined}, openTrainEnv(place, {version, variables: spec.env}, context))
}

/** Of a run that never came to start. */
async function abandon(tracking: Tracking, record: TrackedStart): Promise<void> {
  await revokeToken(tracking, record).catch(() => {})
  await tracking.mlflow.updateRun(record.runId, {status: 'FAILED', endTime: Date.now()}).catch(() => {})
}
