import type {Context} from '../../lib/base/index.ts'
import type {Manifest} from '../../lib/manifest/index.ts'
import type {Models} from '../../lib/model/index.ts'
import {openSession, type SessionFlags} from '../base/session.ts'

/** Opens the registry that the project and the rack mean, hands it over, and closes it. */
export async function withModels<T>(
  flags: SessionFlags,
  context: Context,
  use: (models: Models, manifest: Manifest | undefined) => Promise<T>,
): Promise<T> {
  const [session, {modelsOf}, {openTracking}] = await Promise.all([
    openSession(flags, context),
    import('../../lib/model/index.ts'),
    import('../../lib/head/index.ts'),
  ])
  const tracking = await openTracking(session, context)
  try {
    return await use(modelsOf(tracking.mlflow, context), session.manifest)
  } finally {
    await tracking.close()
  }
}
