import {CliError, isCliError, type Context} from '../base/index.ts'
import type {NodeUnsent, RunRepaired} from '../protocol/index.ts'
import {isLinkTrouble} from '../ssh/index.ts'
import {hostOf, type Place} from './find.ts'
import {carryOut, repairPlan} from './plans.ts'
import type {Records} from './records.ts'
import type {FoundRun} from './types.ts'

/** What a node holds; `writes` are the newest. */
export interface Unsent extends NodeUnsent {
  node: string
}

export interface Repaired {
  run: string
  nodes: (Unsent & {
    sent: number
    /** Not answered in time: the next command that looks at runs sends them. */ pending: number
  })[]
}

/** What every node of a run holds that the server does not have; nodes that do not answer are left out. */
export async function unsentOf(place: Place, run: FoundRun, context: Context): Promise<Unsent[]> {
  const answers = await Promise.all(
    run.nodes.map(async ({node, tracked}) => {
      if (tracked === null) return undefined
      try {
        return {
          node,
          ...(await (await hostOf(place, node, context)).call('run.unsent', {run: run.run}, {signal: context.signal})),
        }
      } catch (error) {
        if (isLinkTrouble(error)) return undefined
        throw error
      }
    }),
  )
  return answers.filter((one) => one !== undefined && one.count > 0) as Unsent[]
}

/**
 * Sends what the server refused or failed at once more, with the user's own rights. Errors: HEAD_FAILED where there is
 * no server to send it to; SOME_NODES_FAILED where not all that hold something could do it; CONFLICT while the run goes
 * on.
 */
export async function repairRun(
  place: Place,
  run: FoundRun,
  unsent: Unsent[],
  records: Records,
  context: Context,
): Promise<Repaired> {
  if (!records.tracking)
    throw new CliError('HEAD_FAILED', `the tracking server cannot be asked: ${records.away}`, {
      hint: 'flexrack head start',
    })
  const outcomes = await carryOut(repairPlan(run, unsent), {place, tracking: records.tracking, context})
  const nodes = outcomes.flatMap(({status, step, value}) => {
    if (status !== 'done') return []
    const {sent, pending, unsent: left} = value as RunRepaired
    return [{node: step.node as string, sent, pending, ...left}]
  })
  const failed = outcomes.flatMap(({error, step}) => (error ? [{node: step.node as string, error}] : []))
  const [first] = failed
  if (first && nodes.length === 0) throw first.error
  if (first) {
    throw new CliError(
      'SOME_NODES_FAILED',
      `what ${failed.map((one) => one.node).join(', ')} has of ${run.run} was not sent: ${first.error.message}`,
      {
        details: {
          nodes: failed.map(({node, error}) => ({
            node,
            ok: false,
            code: isCliError(error) ? error.code : 'BUG',
            message: error.message,
          })),
          repaired: nodes,
        },
        hint: `flexrack runs repair ${run.run}`,
      },
    )
  }
  return {run: run.run, nodes}
}
