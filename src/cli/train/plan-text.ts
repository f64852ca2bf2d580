import type {TrainPlan} from '../../lib/train/index.ts'
import {heldText} from '../rack/reservation-text.ts'
import {paint} from '../terminal/print.ts'
import {planText} from '../terminal/render.ts'
import {placementText} from './placement-text.ts'

/** The plan, why it is like that, and the script that Slurm would get. */
export function trainPlanText({spec, plan, slurm, held}: Pick<TrainPlan, 'spec' | 'plan' | 'slurm' | 'held'>): string {
  const last =
    slurm === undefined ? heldText(held) : `${paint.dim('the script for sbatch:')}\n${slurm.script.trimEnd()}`
  return [planText(plan), ...quotasText(plan), ...(spec.chosen ? [placementText(spec)] : []), last].join('\n\n')
}

/** What the run would come to of each limit that counts for it. */
function quotasText({steps}: TrainPlan['plan']): string[] {
  const sums = steps.flatMap((step) => (step.kind === 'train.reserve' ? (step.input.sums ?? []) : []))
  const lines = sums.map(
    ({text, over, soft}) => `  ${text}${soft ? ' (soft)' : ''}${over ? paint.bold(' over it') : ''}`,
  )
  return lines.length === 0 ? [] : [`${paint.dim('quotas:')}\n${lines.join('\n')}`]
}
