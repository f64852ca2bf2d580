import type {Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import type {Host} from '../host/index.ts'
import type {RackNode} from '../rack/index.ts'
import {findAddresses} from './addresses.ts'
import {lookOver} from './steps/preflight.ts'
import {readSource, type Source} from './source.ts'
import {keepChanges, userName} from './track.ts'
import type {PreflightChoice, TrainPlace} from './types.ts'

/**
 * What runs of one command do once, and then share: see SharedStart. The preflight of all nodes that any of them may
 * get. Errors: PREFLIGHT_FAILED.
 */
export async function lookOverNodes(
  {manifest}: TrainPlace,
  nodes: RackNode[],
  hosts: Host[],
  choice: PreflightChoice,
  context: Context,
): Promise<void> {
  const addresses = hosts.length > 1 ? await findAddresses(nodes, hosts, context) : undefined
  await lookOver(
    {
      skipped: choice.skip,
      force: choice.force,
      processes: manifest.train?.processesPerNode ?? 1,
      project: manifest.name,
      mpi: manifest.train?.launcher === 'mpi',
      gpus: null,
    },
    hosts,
    addresses,
    context,
  )
}

/**
 * The record above theirs, made unless it is `known`, with where the code comes from and what differs from the commit.
 */
export async function recordParent(
  {manifest, rack}: TrainPlace,
  tracking: Tracking,
  {name, known, tags}: {name: string; known: string | undefined; tags: Record<string, string>},
  context: Context,
): Promise<{runId: string; source: Source}> {
  const source = await readSource(manifest.folder, context.signal)
  if (known !== undefined) return {runId: known, source}
  const experiment = await tracking.mlflow.ensureExperiment(manifest.tracking.experiment)
  const git: Record<string, string> =
    source.commit === undefined
      ? {}
      : {'mlflow.source.git.commit': source.commit, 'mlflow.source.git.branch': source.branch ?? ''}
  const about = {'flexrack.project': manifest.name, 'flexrack.rack': rack.name, 'mlflow.source.type': 'PROJECT', ...git}
  const run = await tracking.mlflow.createRun({
    experimentId: experiment.id,
    name,
    user: userName(context),
    tags: {...about, ...tags},
  })
  await keepChanges(tracking, run.id, source, context)
  return {runId: run.id, source}
}
