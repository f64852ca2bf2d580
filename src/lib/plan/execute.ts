import {CliError, isCliError, type Context} from '../base/index.ts'
import type {Plan, Step, StepOutcome} from './types.ts'

export type StepHandler = (step: Step, done: ReadonlyMap<string, unknown>) => Promise<unknown>

/**
 * Runs every step as soon as the steps it needs are done; independent steps run at the same time. A failed step skips
 * those that need it, the others go on. Never throws for a step: see throwIfFailed.
 */
export async function executePlan(plan: Plan, handlers: Record<string, StepHandler>, context: Context): Promise<StepOutcome[]> {
  const values = new Map<string, unknown>()
  const outcomes = new Map<string, Promise<StepOutcome>>()
  const stepsById = new Map(plan.steps.map((step) => [step.id, step]))
  const start = (step: Step): Promise<StepOutcome> => {
    const known = outcomes.get(step.id)
    if (known) return known
    const outcome = runStep(step)
    outcomes.set(step.id, outcome)
    return outcome
  }
  const runStep = async (step: Step): Promise<StepOutcome> => {
    const needed = await Promise.all(step.needs.map((id) => start(requireStep(stepsById, id, step))))
    if (needed.some((one) => one.status !== 'done')) return {step, status: 'skipped'}
    if (context.signal.aborted) return {step, status: 'skipped', error: new CliError('INTERRUPTED', 'interrupted')}
    const handler = handlers[step.kind]
    if (!handler) throw new Error(`no handler for steps of kind ${step.kind}`)
    try {
      const value = await handler(step, values)
      values.set(step.id, value)
      return {step, status: 'done', value}
    } catch (error) {
      return {step, status: 'failed', error: error as Error}
    }
  }
  return Promise.all(plan.steps.map(start))
}

/**
 * Throws what the outcomes amount to: nothing if all are done; the one error if a single node or no node is concerned;
 * SOME_NODES_FAILED with every node's error where other nodes did well; INTERRUPTED if Ctrl-C stopped it.
 */
export function throwIfFailed(outcomes: StepOutcome[]): void {
  const failed = outcomes.filter((one) => one.status === 'failed')
  const interrupted = outcomes.find((one) => isCliError(one.error, 'INTERRUPTED'))
  if (interrupted?.error) throw interrupted.error
  const first = failed[0]
  if (!first?.error) return
  const nodes = [...new Set(outcomes.map((one) => one.step.node).filter((node) => node !== null))]
  if (nodes.length < 2) throw first.error
  const badNodes = new Set(failed.map((one) => one.step.node))
  throw new CliError('SOME_NODES_FAILED', `${badNodes.size} of ${nodes.length} nodes failed: ${[...badNodes].join(', ')}`, {
    details: {
      nodes: nodes.map((node) => {
        const own = failed.find((one) => one.step.node === node)
        return {node, ok: !own, ...(own && {code: isCliError(own.error) ? own.error.code : 'BUG', message: own.error?.message})}
      }),
    },
    hint: isCliError(first.error) ? first.error.hint : undefined,
    cause: first.error,
  })
}

function requireStep(steps: ReadonlyMap<string, Step>, id: string, from: Step): Step {
  const step = steps.get(id)
  if (!step) throw new Error(`step ${from.id} needs ${id}, which is not in the plan`)
  return step
}
