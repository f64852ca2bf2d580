import type {Context} from '../../lib/base/index.ts'
import type {Runs} from '../../lib/runs/index.ts'
import {atClose} from '../base/context.ts'
import {openSession, type Session, type SessionFlags} from '../base/session.ts'

/** The runs that the project and the rack mean; closed when the command ends. */
export async function openRunSession(flags: SessionFlags, context: Context): Promise<Runs> {
  return runsOf(await openSession(flags, context), context)
}

/** The same of a session that is open. */
export async function runsOf(session: Session, context: Context): Promise<Runs> {
  const {openRuns} = await import('../../lib/runs/index.ts')
  const runs = openRuns(session, context)
  atClose(context, () => runs.close())
  return runs
}
