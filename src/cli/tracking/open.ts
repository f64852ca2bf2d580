import {CliError, type Context} from '../../lib/base/index.ts'
import type {HeadConnection} from '../../lib/head/index.ts'
import {withRackHead} from '../base/rack-head.ts'
import {openSession, type Session, type SessionFlags} from '../base/session.ts'

/**
 * The head that the project's runs are recorded on. Errors: USAGE where the manifest names another server, those of
 * connectHead.
 */
export async function withHead<T>(
  flags: SessionFlags,
  context: Context,
  use: (head: HeadConnection, session: Session) => Promise<T>,
): Promise<T> {
  const session = await openSession(flags, context)
  const uri = session.manifest?.tracking.uri
  if (uri !== undefined)
    throw new CliError('USAGE', `the project is tracked at ${uri} (tracking.uri), which gives out its own tokens`, {
      hint: 'leave tracking.uri out to use the head of the rack',
    })
  return withRackHead(session, context, use)
}
