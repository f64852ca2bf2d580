import type {Context} from '../base/index.ts'
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

/** Brings them to every node of a run. Pure. */
export function runDataSteps({placements}: Pick<RunSpec, 'placements'>, versions: DataManifest[], limit: number | undefined): TrainStep[] {
  return dataSteps(placements.map(({node}) => node.name), versions, limit ?? null)
}
