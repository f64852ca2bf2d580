import type {Context} from '../../lib/base/index.ts'
import type {HeadConnection} from '../../lib/head/index.ts'
import type {Session} from './session.ts'

/** The head of the rack, wherever the project's runs are recorded. Errors: those of connectHead. */
export async function withRackHead<T>(
  session: Session,
  context: Context,
  use: (head: HeadConnection, session: Session) => Promise<T>,
): Promise<T> {
  const {connectHead} = await import('../../lib/head/index.ts')
  const head = await connectHead(session.rack, session.fleet, context)
  try {
    return await use(head, session)
  } finally {
    await head.close()
  }
}
