import type {Context} from '../base/index.ts'
import {hostOf, type Place} from './find.ts'
import type {Records} from './records.ts'
import type {FoundRun} from './types.ts'

/** For the node's own waiting; what is not through then is tried again by the next command. Seconds. */
const PATIENCE = 20

/**
 * Completes the tracking server's record of runs that ended while it was away, from the nodes' files. Failures are told as
 * warnings: the files stay, and the next command tries again. Returns the runs that were completed.
 */
export async function reconcileRuns(place: Place, runs: FoundRun[], records: Records, context: Context): Promise<string[]> {
  const {tracking} = records
  if (!tracking) return []
  const open = runs.flatMap((run) => run.nodes.filter((one) => one.tracked !== null && one.recorded === false && !one.live))
  const done = new Set<string>()
  await Promise.all(
    open.map(async (one) => {
      try {
        const host = await hostOf(place, one.node, context)
        const access = tracking.head ? {upstream: tracking.nodeUri, token: tracking.head.token.reveal()} : {}
        const answer = await host.call<{recorded: boolean; why?: string}>('run.reconcile', {run: one.run, seconds: PATIENCE, ...access}, {signal: context.signal})
        if (answer.recorded) done.add(one.run)
        else context.reporter.warn(`the record of ${one.run} is not complete yet (${one.node}): ${answer.why}`)
      } catch (error) {
        context.reporter.warn(`the record of ${one.run} could not be completed from ${one.node}: ${(error as Error).message}`)
      }
    }),
  )
  for (const run of done) context.reporter.note(`the record of ${run} was completed from the files on its nodes`)
  return [...done]
}
