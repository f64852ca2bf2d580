import {CliError, isCliError, type Context} from '../base/index.ts'
import {follow, referredSteps} from './reference.ts'
import type {FromStep, Handlers, KindsOf, Outputs, PlanOf, Step, StepOutcome} from './types.ts'

type AnyHandler<E> = (input: object, done: Outputs<never>, env: E) => Promise<unknown>

/**
 * Runs every step as soon as the steps it needs are done; independent steps run at the same time. A failed step skips
 * those that need it, the others go on. Never throws for a step: see throwIfFailed. Throws for a plan that is none.
 */
export async function executePlan<K extends KindsOf<K>, E>(
  plan: PlanOf<K>,
  handlers: Handlers<K, E>,
  env: E,
  context: Pick<Context, 'signal'>,
): Promise<StepOutcome[]> {
  const steps = plan.steps as Step[]
  const stepsById = checkSteps(steps)
  const values = new Map<string, unknown>()
  const done = outputsOf(stepsById, values) as Outputs<never>
  const outcomes = new Map<string, Promise<StepOutcome>>()
  const start = (step: Step): Promise<StepOutcome> => {
    const known = outcomes.get(step.id)
    if (known) return known
    const outcome = runStep(step)
    outcomes.set(step.id, outcome)
    return outcome
  }
  const runStep = async (step: Step): Promise<StepOutcome> => {
    const needed = await Promise.all(step.needs.map((id) => start(stepsById.get(id) as Step)))
    if (needed.some((one) => one.status !== 'done')) return {step, status: 'skipped'}
    if (context.signal.aborted) return {step, status: 'skipped', error: new CliError('INTERRUPTED', 'interrupted')}
    const handler = (handlers as Record<string, AnyHandler<E>>)[step.kind]
    if (!handler) throw new Error(`no handler for steps of kind ${step.kind}`)
    const from = performance.now()
    try {
      const value = await handler(step.input, done, env)
      values.set(step.id, value)
      return {step, status: 'done', value, span: {from, to: performance.now()}}
    } catch (error) {
      return {step, status: 'failed', error: error as Error, span: {from, to: performance.now()}}
    }
  }
  return Promise.all(steps.map(start))
}

/** What the steps of one kind have given, in the order of the plan; those that failed or were skipped gave nothing. */
export function valuesOf<K extends KindsOf<K>, Kind extends keyof K & string>(
  outcomes: readonly StepOutcome[],
  kind: Kind,
): K[Kind]['output'][] {
  return outcomes
    .filter((one) => one.step.kind === kind && one.status === 'done')
    .map((one) => one.value as K[Kind]['output'])
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
  throw new CliError(
    'SOME_NODES_FAILED',
    `${badNodes.size} of ${nodes.length} nodes failed: ${[...badNodes].join(', ')}`,
    {
      details: {
        nodes: nodes.map((node) => {
          const own = failed.find((one) => one.step.node === node)
          return {
            node,
            ok: !own,
            ...(own && {code: isCliError(own.error) ? own.error.code : 'BUG', message: own.error?.message}),
          }
        }),
      },
      hint: isCliError(first.error) ? first.error.hint : undefined,
      cause: first.error,
    },
  )
}

/** A plan may come from a file: what its steps need and refer to must be there, and done before. */
function checkSteps(steps: Step[]): ReadonlyMap<string, Step> {
  const byId = new Map(steps.map((step) => [step.id, step]))
  if (byId.size < steps.length) throw new Error('two steps of the plan have one id')
  for (const {id, needs, input} of steps) {
    const missing = needs.find((one) => !byId.has(one))
    if (missing !== undefined) throw new Error(`step ${id} needs ${missing}, which is not in the plan`)
    const unneeded = referredSteps(input).find((one) => !needs.includes(one))
    if (unneeded !== undefined) throw new Error(`step ${id} refers to ${unneeded}, which it does not need`)
  }
  return byId
}

function outputsOf(
  steps: ReadonlyMap<string, Step>,
  values: ReadonlyMap<string, unknown>,
): {of(kind: string, from: FromStep): unknown; at(from: FromStep): unknown} {
  const at = ({$output, at: path}: FromStep): unknown => follow(values.get($output), path, $output)
  const of = (kind: string, from: FromStep): unknown => {
    const step = steps.get(from.$output)
    if (step?.kind !== kind) throw new Error(`the plan refers to ${from.$output} as to a step of kind ${kind}`)
    return values.get(from.$output)
  }
  return {of, at}
}
