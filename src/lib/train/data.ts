import type {Context} from '../base/index.ts'
import type {QuotaSum} from '../head/index.ts'
import {openHost} from '../host/index.ts'
import type {StepOutcome} from '../plan/index.ts'
import {bucketSteps, remoteOf, remotesOf} from '../bucket/index.ts'
import {dataSteps, DataStore, dataSums} from '../data/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {DataManifest} from '../protocol/index.ts'
import type {TrainStep} from './steps/types.ts'
import type {RunSpec, TrainPlace} from './types.ts'

/**
 * The manifest with every data set as an exact version, and these. Errors: NOT_FOUND where this machine has none of the
 * name.
 */
export async function withVersions(
  manifest: Manifest,
  context: Context,
): Promise<{manifest: Manifest; versions: DataManifest[]}> {
  const store = new DataStore(context)
  const versions = await Promise.all((manifest.data ?? []).map((word) => store.find(word)))
  return {
    manifest:
      versions.length === 0 ? manifest : {...manifest, data: versions.map(({name, digest}) => `${name}@${digest}`)},
    versions,
  }
}

/** Brings them to every node of a run, and what it gets from buckets; a job of Slurm copies that itself. Pure. */
export function runDataSteps(
  spec: RunSpec,
  versions: DataManifest[],
  limit: number | undefined,
  sums: readonly QuotaSum[],
): TrainStep[] {
  const nodes = spec.placements.map(({node}) => node.name)
  return [
    ...dataSteps(nodes, versions, limit ?? null, {run: spec.run, sums}),
    ...bucketSteps(nodes, spec.slurm ? {...spec, inputs: []} : spec),
  ]
}

/** What they come to of the quotas that count for them. Errors: those of requests. */
export function runDataSums(
  {placements, project}: RunSpec,
  versions: readonly DataManifest[],
  {rack, fleet}: TrainPlace,
  context: Context,
): Promise<QuotaSum[]> {
  const nodes = placements.map(({node}) => node.name)
  return dataSums(nodes, versions, {rack, fleet, project, context})
}

/** What its nodes need of rclone.conf. Errors: those of remotesOf. */
export function runRemotes(
  {inputs, uploads}: Pick<RunSpec, 'inputs' | 'uploads'>,
  {env}: Pick<Context, 'env'>,
): Promise<string> {
  return remotesOf([...inputs.map(({from}) => remoteOf(from)), ...uploads.map(({to}) => remoteOf(to))], env)
}

/** Removes the inputs of a run that was not started after all. */
export async function forgetInputs(
  {run, inputs}: RunSpec,
  outcomes: readonly StepOutcome[],
  {rack, fleet}: TrainPlace,
  context: Context,
): Promise<void> {
  if (inputs.length === 0) return
  const brought = outcomes
    .filter((one) => one.step.kind === 'bucket.bring' && one.status !== 'skipped')
    .map((one) => one.step.node)
  await Promise.all(
    rack.nodes
      .filter(({name}) => brought.includes(name))
      .map(async (node) => {
        await (await openHost(fleet, node, context)).call('bucket.forget', {run}, {signal: context.kill})
      }),
  ).catch(() => {}) // a node that does not answer now removes it later: bucket/verbs.py
}
