import type {Context} from '../../lib/base/index.ts'
import type {IdleGpus} from '../../lib/overview/index.ts'
import type {RackUsage, UsageReport} from '../../lib/usage/index.ts'
import type {Session} from '../base/session.ts'

/** What `gpu idle` answers: what does nothing now, and who had how many GPU hours. `rack`: where each of them is. */
export interface IdleAnswer {
  idle: (IdleGpus & {rack: string})[]
  usage: UsageReport
}

/** Of one rack, asked at once. Errors: those of readUsage and readGpuUse. */
export async function readIdle(
  session: Session,
  since: number,
  context: Context,
): Promise<{idle: IdleAnswer['idle']; usage: RackUsage}> {
  const [{idleGpus, readGpuUse}, {readUsage}] = await Promise.all([
    import('../../lib/overview/index.ts'),
    import('../../lib/usage/index.ts'),
  ])
  const [use, usage] = await Promise.all([readGpuUse(session, context), readUsage(session, since, context)])
  return {idle: idleGpus(use, usage.entries).map((one) => ({rack: use.rack, ...one})), usage}
}
