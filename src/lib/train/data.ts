import type {Context} from '../base/index.ts'
import {bucketSteps, remoteOf, remotesOf} from '../bucket/index.ts'
import {dataSteps, DataStore} from '../data/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {DataManifest} from '../protocol/index.ts'
import type {TrainStep} from './steps/types.ts'
import type {RunSpec} from './types.ts'

/** The manifest with every data set as an exact version, and these. Errors: NOT_FOUND where this machine has none of the name. */
export async function withVersions(manifest: Manifest, context: Context): Promise<{manifest: Manifest; versions: DataManifest[]}> {
  const store = new DataStore(context)
  const versions = await Promise.all((manifest.data ?? []).map((word) => store.find(word)))
  return {manifest: versions.length === 0 ? manifest : {...manifest, data: versions.map(({name, digest}) => `${name}@${digest}`)}, versions}
}

/** Brings them to every node of a run, and what it gets from buckets; a job of Slurm copies that itself. Pure. */
export function runDataSteps(spec: RunSpec, versions: DataManifest[], limit: number | undefined): TrainStep[] {
  const nodes = spec.placements.map(({node}) => node.name)
  return [...dataSteps(nodes, versions, limit ?? null, spec.run), ...bucketSteps(nodes, spec.slurm ? {...spec, inputs: []} : spec)]
}

/** What its nodes need of rclone.conf. Errors: those of remotesOf. */
export function runRemotes({inputs, uploads}: Pick<RunSpec, 'inputs' | 'uploads'>, {env}: Pick<Context, 'env'>): Promise<string> {
  return remotesOf([...inputs.map(({from}) => remoteOf(from)), ...uploads.map(({to}) => remoteOf(to))], env)
}
