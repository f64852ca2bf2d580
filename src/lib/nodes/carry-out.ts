import type {Context} from '../base/index.ts'
import {executePlan, type Handlers, type KindsOf, type PlanOf} from '../plan/index.ts'
import {reportsOf, type NodeReport} from './report.ts'

/** What is to be done on nodes, at most one step a node. */
export interface NodesPlan<K extends KindsOf<K>> {
  plan: PlanOf<K>
  /** Nodes that could not be looked at when it was made: they have no step. */
  failed: NodeReport<never>[]
}

/**
 * Carries the plan out on all of its nodes at once, telling how far it is; one node's failure never hides another's. A
 * report on each of `names`: `idle` is the value of a node that has nothing to do.
 */
export async function carryOutOver<K extends KindsOf<K>, E, T>(
  doing: string,
  {plan, failed}: NodesPlan<K>,
  {names, idle}: {names: string[]; idle?: T},
  {handlers, env}: {handlers: Handlers<K, E>; env: E},
  ctx: Context,
): Promise<NodeReport<T>[]> {
  const total = plan.steps.length
  const progress = ctx.reporter.begin(`${doing} ${names.length} node${names.length === 1 ? '' : 's'}`)
  let finished = 0
  const outcomes = await executePlan(
    plan,
    afterEach(handlers, () => progress.amount(++finished, total, 'nodes')),
    env,
    ctx,
  )
  const reports = [...failed, ...reportsOf<T>(outcomes)]
  if (reports.some((one) => !one.ok)) progress.fail()
  else progress.done()
  const byNode = new Map(reports.map((one) => [one.node, one]))
  return names.map((node) => byNode.get(node) ?? {node, ok: true, value: idle as T})
}

function afterEach<K extends KindsOf<K>, E>(handlers: Handlers<K, E>, done: () => void): Handlers<K, E> {
  type Handler = (...given: unknown[]) => Promise<unknown>
  const told = Object.entries(handlers as Record<string, Handler>).map(([kind, handler]): [string, Handler] => [
    kind,
    (...given) => handler(...given).finally(done),
  ])
  return Object.fromEntries(told) as Handlers<K, E>
}
