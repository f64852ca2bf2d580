import {CliError, type Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {selectNodes} from '../../lib/rack/index.ts'
import {openHosts, throwIfNodesFailed} from './hosts.ts'
import {confirm} from '../base/prompt.ts'
import {planText} from '../terminal/render.ts'
import type {Session} from '../base/session.ts'
import {projectName} from './nodes.ts'
import {endText, type EndAnswer} from './text.ts'

export interface EndFlags {
  named: string | undefined
  on: string | undefined
  remove: boolean
  environments: boolean
  history?: boolean
  grace: number
  dryRun: boolean
  yes: boolean
}

/**
 * What `workspace stop` and `workspace remove` do. Errors: NEEDS_TERMINAL without --yes in a pipe, CONFLICT while a run
 * is in it.
 */
export async function endWorkspaces(
  flags: EndFlags,
  {rack, fleet, manifest}: Session,
  context: Context,
  answer: <T>(value: T, text: (value: T) => string) => T,
): Promise<Plan | EndAnswer> {
  const [{END_HANDLERS, planEnd}, {executePlan}] = await Promise.all([
    import('../../lib/workspace/index.ts'),
    import('../../lib/plan/index.ts'),
  ])
  const project = projectName(flags.named, manifest)
  const nodes = selectNodes(rack, flags.on, rack.nodes)
  const {hosts, failed} = await openHosts(fleet, nodes, context)
  const {plan} = await planEnd(
    hosts,
    {
      project,
      remove: flags.remove,
      environments: flags.environments,
      ...(flags.history && {history: true}),
      grace: flags.grace,
    },
    context,
  )
  if (flags.dryRun) {
    await throwIfNodesFailed(nodes, failed)
    return answer(plan, planText)
  }
  if (plan.steps.length > 0 && !flags.yes) {
    const message = `${plan.steps.map((step) => `${step.node}: ${step.title}`).join('\n')}\nDo this?`
    if (!(await confirm({message, flag: '--yes'}, context))) throw new CliError('INTERRUPTED', 'nothing was changed')
  }
  const host = (node: string): Host => hosts.find((one) => one.node === node) as Host
  const outcomes = await executePlan(plan, END_HANDLERS, {host, context}, context)
  await throwIfNodesFailed(nodes, failed, outcomes)
  return answer(outcomes.map((one) => one.value) as EndAnswer, endText)
}
