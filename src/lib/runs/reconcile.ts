import type {Context} from '../base/index.ts'
import type {NodeRun} from '../protocol/index.ts'
import {hostOf, type Place} from './find.ts'
import {isQuorum, stateOf} from './leading.ts'
import type {Records} from './records.ts'
import type {FoundRun} from './types.ts'

/** For the node's own waiting; what is not through then is tried again by the next command. Seconds. */
const PATIENCE = 20

/**
 * Completes the tracking server's record of runs that ended while it was away, from the nodes' files. Failures are told
 * as warnings: the files stay, and the next command tries again. Who led a run finishes its record, unless another one
 * has led it on, or may have: an old leader's failure is no end of a run that went on, and takes the token away that
 * those need who do. Returns the runs that were completed.
 */
export async function reconcileRuns(
  place: Place,
  runs: FoundRun[],
  records: Records,
  context: Context,
): Promise<string[]> {
  const {tracking} = records
  if (!tracking) return []
  const known = new Set(place.rack.nodes.map((one) => one.name))
  const open = runs.flatMap((run) => toComplete(run).map((one) => ({one, leads: leadsStill(run, one, known)})))
  const done = new Set<string>()
  await Promise.all(
    open.map(async ({one, leads}) => {
      if (leads === undefined)
        return context.reporter.warn(
          `the record of ${one.run} is not complete yet (${one.node}): whether another node has led the run on is known once more of ${one.nodes.join(', ')} answer and are done with it`,
        )
      try {
        const host = await hostOf(place, one.node, context)
        const answer = await host.call(
          'run.reconcile',
          {run: one.run, seconds: PATIENCE, leads, ...(await tracking.userAccess())},
          {signal: context.signal},
        )
        if (answer.recorded) done.add(one.run)
        else context.reporter.warn(`the record of ${one.run} is not complete yet (${one.node}): ${answer.why}`)
      } catch (error) {
        context.reporter.warn(
          `the record of ${one.run} could not be completed from ${one.node}: ${(error as Error).message}`,
        )
      }
    }),
  )
  for (const run of done) context.reporter.note(`the record of ${run} was completed from the files on its nodes`)
  return [...done]
}

/**
 * Nodes with something to bring: their own part, or the committed result of a leader that has died before it could
 * report it itself.
 */
function toComplete(run: FoundRun): NodeRun[] {
  const best = stateOf(run)
  const over = run.nodes.filter((one) => one.tracked !== null && !one.live)
  const isUntold = over.some((one) => one.node === best.leader && one !== best && one.recorded === false)
  return over.filter((one) => one.recorded === false || (one === best && isUntold))
}

/**
 * Whether what a node has is the last word on how the run ended; undefined where that is not known: others that may
 * lead the run on, or may have done so, are at it or do not answer. Nodes that the rack has no more are not waited for.
 * Pure.
 */
export function leadsStill(run: FoundRun, one: NodeRun, known: ReadonlySet<string>): boolean | undefined {
  const newest = Math.max(...run.nodes.map((other) => other.term))
  const isBest = stateOf({run: run.run, nodes: run.nodes.filter((other) => !other.live)}) === one
  if (one.term < newest || !isBest || (one.node !== one.leader && !one.committed)) return false
  const pool = one.nodes.filter((name) => known.has(name))
  const isOpen = run.nodes.some((other) => other.live && other.ended === null)
  const answers = [...run.nodes.map((other) => other.node), ...(run.absent ?? [])]
  return one.replaceable && (isOpen || !isQuorum(answers, pool)) ? undefined : true
}
