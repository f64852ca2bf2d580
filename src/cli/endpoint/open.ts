import type {Context} from '../../lib/base/index.ts'
import type {Endpoints} from '../../lib/endpoint/index.ts'
import {atClose} from '../base/context.ts'
import type {Session} from '../base/session.ts'

/** Endpoints of a session's rack; closed when the command ends. */
export async function endpointsOf(session: Session, context: Context, how: {looks?: boolean} = {}): Promise<Endpoints> {
  const {openEndpoints} = await import('../../lib/endpoint/index.ts')
  const endpoints = await openEndpoints(session, context, how)
  atClose(context, () => endpoints.close())
  return endpoints
}
