import {count, type Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {selectNodes} from '../../lib/rack/index.ts'
import type {Locked, LockKinds} from '../../lib/workspace/index.ts'
import type {ProjectSession} from '../base/session.ts'
import {planText} from '../terminal/render.ts'
import {openHosts, throwIfNodesFailed} from './hosts.ts'

/** What `lock` does: all nodes are asked, as the lock is for all. */
export async function lockProject(
  flags: {on: string | undefined; dryRun: boolean},
  {rack, fleet, manifest}: ProjectSession,
  context: Context,
  answer: <T>(value: T, text: (value: T) => string) => T,
): Promise<Plan | Locked> {
  const {PROJECT_LOCK} = await import('../../lib/workspace/index.ts')
  const {executePlan, throwIfFailed, valuesOf} = await import('../../lib/plan/index.ts')
  const nodes = selectNodes(rack, flags.on, rack.nodes)
  const {hosts, failed} = await openHosts(fleet, nodes, context)
  await throwIfNodesFailed(nodes, failed)
  const plan = await PROJECT_LOCK.plan(hosts, manifest, context)
  if (flags.dryRun) return answer<Plan>(plan, planText)
  const outcomes = await executePlan(
    plan,
    PROJECT_LOCK.handlers,
    {host: (node) => hosts.find((one) => one.node === node) as Host, context},
    context,
  )
  throwIfFailed(outcomes)
  return answer(valuesOf<LockKinds, 'workspace.lock'>(outcomes, 'workspace.lock')[0] as Locked, lockText)
}

function lockText({file, packages, python, node}: Locked): string {
  return `${file} has ${count(packages, 'package')}, as the package index of ${node} gave them, for Python ${python} and newer.`
}
