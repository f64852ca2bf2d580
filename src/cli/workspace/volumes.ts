import type {Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import type {BoundVolume} from '../../lib/protocol/index.ts'
import type {ProjectSession} from '../base/session.ts'

/**
 * The volumes that the project's programs may have on a node. Errors: those of nodesWith, and NODE_UNFIT where it
 * cannot give one.
 */
export async function volumesOn(
  host: Host,
  {rack, manifest}: Pick<ProjectSession, 'rack' | 'manifest'>,
  context: Context,
): Promise<BoundVolume[]> {
  if (!manifest.volumes) return []
  const {needVolumes, nodesWith, volumesFor} = await import('../../lib/volume/index.ts')
  nodesWith(
    manifest,
    rack,
    rack.nodes.filter(({name}) => name === host.node),
    true,
  )
  const volumes = volumesFor(manifest, rack)
  await needVolumes(host, volumes, context)
  return volumes
}
