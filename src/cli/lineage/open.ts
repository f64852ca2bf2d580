import type {Context} from '../../lib/base/index.ts'
import type {EvidencePlace} from '../../lib/lineage/index.ts'
import {atClose} from '../base/context.ts'
import type {Session} from '../base/session.ts'

/** Endpoints and tracking server of a session's rack; closed when the command ends. */
export async function openEvidence(session: Session, context: Context): Promise<EvidencePlace> {
  const [{openEndpoints}, {openTracking}] = await Promise.all([
    import('../../lib/endpoint/index.ts'),
    import('../../lib/head/index.ts'),
  ])
  const endpoints = await openEndpoints(session, context, {looks: true})
  atClose(context, () => endpoints.close())
  const {mlflow, elsewhere, close} = await openTracking(session, context)
  atClose(context, close)
  return {rack: session.rack, fleet: session.fleet, mlflow, elsewhere, endpoints}
}
