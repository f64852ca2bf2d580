import {count} from '../../lib/base/index.ts'
import type {NodeReport} from '../../lib/nodes/index.ts'
import type {InstallKinds} from '../../lib/install/index.ts'
import type {PlanOf} from '../../lib/plan/index.ts'
import type {Uninstalled} from '../../lib/protocol/index.ts'
import {planText} from '../terminal/render.ts'

/** The plan, and below it every path it would remove. */
export function uninstallPlanText(plan: PlanOf<InstallKinds>): string {
  if (plan.steps.length === 0) return 'Nothing of flexrack is on these nodes.'
  const lines = plan.steps.flatMap((step) => {
    if (step.kind !== 'node.uninstall') return []
    const {paths, outside, alive} = step.input
    return [
      `${step.node}:`,
      ...paths.map((path) => `  ${path}`),
      ...outside.map((one) => `  ${one}`),
      ...alive.map(
        ({pid, command}) => `  still running: ${pid} ${command.length > 100 ? `${command.slice(0, 100)}…` : command}`,
      ),
    ]
  })
  return `${lines.join('\n')}\n\n${planText(plan)}`
}

export function uninstalledText(reports: NodeReport<Uninstalled>[]): string {
  const lines = reports.flatMap(({node, value}) => {
    if (!value) return []
    const ended = value.ended > 0 ? `, ${count(value.ended, 'process', 'processes')} ended` : ''
    const first =
      value.removed.length > 0
        ? `${node}: ${count(value.removed.length, 'path')} removed${ended}`
        : `${node}: nothing of flexrack was there`
    return [first, ...value.left.map(({path, why}) => `  left: ${path} (${why})`)]
  })
  return lines.join('\n')
}
