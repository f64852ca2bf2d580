import {isCliError, Secret, type Context} from '../base/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Finding} from './findings.ts'

/** Where runs would be recorded, and whether that answers. */
export async function checkHead(
  rack: Rack,
  manifest: Manifest | undefined,
  fleet: Fleet,
  ctx: Context,
): Promise<{uri?: string; findings: Finding[]}> {
  const uri = manifest?.tracking.uri
  try {
    if (uri !== undefined) {
      const {openMlflow} = await import('../tracking/index.ts')
      const token = ctx.env.MLFLOW_TRACKING_TOKEN
      await openMlflow({uri, ...(token && {token: new Secret(token)})}).version()
      return {uri, findings: []}
    }
    const {connectHead} = await import('../head/index.ts')
    const head = await connectHead(rack, fleet, ctx)
    await head.close()
    return {uri: head.nodeUri, findings: []}
  } catch (error) {
    if (!isCliError(error) || error.code === 'INTERRUPTED' || error.code === 'BUG') throw error
    // A head on a node that cannot be reached is told with the node.
    if (
      error.details.node === rack.head.node &&
      ['NODE_UNREACHABLE', 'AUTH_FAILED', 'HOST_KEY_UNKNOWN', 'HOST_KEY_CHANGED'].includes(error.code)
    )
      return {findings: []}
    const fix =
      error.hint ??
      (uri === undefined ? 'flexrack head start, or flexrack train --no-tracking' : 'see tracking.uri in flexrack.yaml')
    return {findings: [{severity: 'error', about: 'head', message: error.message, fix}]}
  }
}
