import type {Context} from '../../lib/base/index.ts'
import type {RunParent} from '../../lib/protocol/index.ts'
import type {Session} from '../base/session.ts'

/** What --from names; the tracking server is asked only where it names something. Errors: NOT_FOUND, USAGE. */
export async function parentsNamed(
  words: readonly string[] | undefined,
  session: Session,
  context: Context,
): Promise<{parents?: RunParent[]}> {
  if (!words || words.length === 0) return {}
  const [{openTracking}, {parentsOf}] = await Promise.all([
    import('../../lib/head/index.ts'),
    import('../../lib/lineage/index.ts'),
  ])
  const tracking = await openTracking(session, context)
  try {
    return {parents: await parentsOf(words, tracking.mlflow)}
  } finally {
    await tracking.close()
  }
}
