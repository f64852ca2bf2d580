import type {Context} from '../../lib/base/index.ts'
import type {OwnWish} from '../../lib/gpu/index.ts'
import type {Session} from '../base/session.ts'

/**
 * What a kernel is to lease of its own node's daemon, with `remote` of other nodes', too. Errors: USAGE, GPU_UNAVAILABLE
 * where these share none, or too few.
 */
export async function kernelGpus(
  flags: {
    count: number
    memory?: string | undefined
    fraction?: string | undefined
    remote?: boolean | undefined
  },
  session: Session,
  node: string,
  context: Context,
): Promise<OwnWish> {
  const {gpuRequest, OWN_LEASES} = await import('../../lib/gpu/index.ts')
  return OWN_LEASES.wish(session, gpuRequest(flags), {node, remote: flags.remote ?? false, who: 'a kernel'}, context)
}
