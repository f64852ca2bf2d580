import {CliError, silentReporter, type Context} from '../../lib/base/index.ts'
import type {GpuReport} from '../../lib/gpu/index.ts'
import type {RackNode} from '../../lib/rack/index.ts'
import {gpusOf} from './request.ts'
import {repeatLooks} from '../base/repeat.ts'
import type {Session} from '../base/session.ts'

export interface Watch {
  session: Session
  nodes: RackNode[]
  /** Seconds, as it was typed. */
  interval: string
  context: Context
}

/** Looks again and again until Ctrl-C; on a terminal each look takes the place of the one before. */
export async function watchGpus(
  {session, nodes, interval, context}: Watch,
  show: (report: GpuReport) => void,
): Promise<void> {
  const seconds = Number(interval)
  if (!(seconds >= 0.2 && seconds <= 3600))
    throw new CliError('USAGE', `"${interval}" is not a number of seconds from 0.2 to 3600`, {hint: '--interval 2'})
  const gpus = await gpusOf(session, {...context, reporter: silentReporter})
  const tell = (report: GpuReport): void => {
    if (process.stdout.isTTY) process.stdout.write('\x1b[H\x1b[2J')
    show(report)
  }
  await repeatLooks({seconds, look: () => gpus.read(nodes), tell}, context)
}
