import {CliError, isCliError, Secret, type Context} from '../base/index.ts'
import {hostOf, type Place} from './find.ts'
import type {FoundRun} from './types.ts'

/** A way to the dashboard of a run's cluster. */
export interface Dashboard {
  node: string
  /** On this machine. */
  url: string
  /** Opens it, and the cluster. */
  token: Secret
  /** Resolves when the way there has ended, however. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/**
 * Forwards the dashboard of a live run, from the node that has the head of its cluster. Errors: CONFLICT where the run
 * has none, those of hostOf where no node says so.
 */
export async function openDashboard(place: Place, run: FoundRun, context: Context): Promise<Dashboard> {
  const errors: unknown[] = []
  for (const {node} of run.nodes) {
    try {
      const host = await hostOf(place, node, context)
      const {host: targetHost, port, token} = await host.call('run.dashboard', {run: run.run}, {signal: context.signal})
      const forward = await host.shell.forwardLocal({targetHost, targetPort: port})
      return {
        node,
        url: `http://127.0.0.1:${forward.port}`,
        token: new Secret(token),
        closed: host.shell.closed,
        close: () => forward.close(),
      }
    } catch (error) {
      errors.push(error)
    }
  }
  throw (
    errors.find((error) => !isCliError(error, 'CONFLICT', 'NOT_FOUND')) ??
    errors[0] ??
    new CliError('NOT_FOUND', `no node has run ${run.run}`)
  )
}
