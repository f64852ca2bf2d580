import type {TrainPlan} from '../../lib/train/index.ts'
import {heldText} from '../rack/reservation-text.ts'
import {paint} from '../terminal/print.ts'
import {planText} from '../terminal/render.ts'
import {placementText} from './placement-text.ts'

/** The plan, why it is like that, and the script that Slurm would get. */
export function trainPlanText({spec, plan, slurm, held}: Pick<TrainPlan, 'spec' | 'plan' | 'slurm' | 'held'>): string {
  return `${planText(plan)}\n\n${spec.chosen ? `${placementText(spec)}\n\n` : ''}${slurm === undefined ? heldText(held) : `${paint.dim('the script for sbatch:')}\n${slurm.script.trimEnd()}`}`
}
