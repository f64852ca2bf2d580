import type {Context} from '../base/index.ts'
import type {QuotaSum} from '../head/index.ts'
import type {NodeReport} from '../nodes/index.ts'
import type {DataManifest, NodeReservations} from '../protocol/index.ts'
import type {WorkspacePlan} from '../workspace/index.ts'
import {runDataSteps, runDataSums, runRemotes, withVersions} from './data.ts'
import {schedulerOf} from './place.ts'
import {isChosen, SSH} from './placer/ssh.ts'
import {SLURM} from './placer/slurm.ts'
import type {Placed, SlurmPlaced} from './placer/types.ts'
import {reachStep} from './steps/reach.ts'
import {trackSteps} from './steps/track.ts'
import type {TrainStep, TrainSteps} from './steps/types.ts'
import type {RunSpec, SharedStart, TrainChoice, TrainPlace} from './types.ts'

/** What would be done. */
export interface TrainPlan {
  /** All of it, as data: what is read back from JSON is the same. */
  plan: TrainSteps
  /** What the steps were made from, for whoever shows or follows the run. */
  spec: RunSpec
  /** With what was read of the project. */
  workspaces: WorkspacePlan
  /** Who has what on its nodes, where that was asked for. */
  held: NodeReport<NodeReservations>[]
  /** Where Slurm places the run. */
  slurm?: SlurmPlaced
  /** The tracking server's connection is of others, too. */
  shared?: SharedStart
  /** Where its nodes and GPUs were chosen: what they are chosen by again, once, after others were quicker. */
  again?: TrainChoice
}

/**
 * Plans a run: its placer's steps, and around them the tracking server, workspaces and the record. Looks at the nodes
 * and changes nothing. Errors: those of the placer.
 */
export async function planTrain(whole: TrainPlace, choice: TrainChoice, context: Context): Promise<TrainPlan> {
  const {manifest, versions} = await withVersions(whole.manifest, context)
  const place = {...whole, manifest}
  const isSlurm = schedulerOf(place.manifest, place.rack, choice) === 'slurm'
  const placed = await (isSlurm ? SLURM : SSH).place(place, choice, context)
  const {spec, workspaces, held, slurm} = placed
  await runRemotes(spec, context) // what is missing is told before anything is done
  const sums = choice.look ? await runDataSums(spec, versions, place, context) : []
  return {
    plan: {command: 'train', steps: stepsOf(placed, place, choice, {versions, sums})},
    spec,
    workspaces,
    held,
    ...(slurm && {slurm}),
    ...(choice.shared && {shared: choice.shared}),
    ...(!isSlurm && isChosen(place, choice) && {again: choice}),
  }
}

function stepsOf(
  {spec, workspaces, claim, ask, check, start}: Placed,
  {manifest, rack}: TrainPlace,
  {shared}: TrainChoice,
  {versions, sums}: {versions: DataManifest[]; sums: readonly QuotaSum[]},
): TrainStep[] {
  const {uri} = manifest.tracking
  const environment = workspaces.workspaces.get(spec.placements[0]?.node.name as string)?.environment?.hash
  const reach = spec.tracked && !shared ? [reachStep(uri, rack.name, spec.project)] : []
  const claimed = after(reach, claim)
  const built = after(claimed.length > 0 ? claimed : reach, [
    ...workspaces.plan.steps,
    ...runDataSteps(spec, versions, rack.dataLimit, sums),
  ])
  const track = trackSteps(spec, {folder: manifest.folder, rack: rack.name, uri, environment, versions, shared})
  const steps = [...reach, ...claimed, ...built, ...ask]
  // No record of a run whose environment cannot be built.
  for (const next of [check, track, ...start]) steps.push(...after(steps, next))
  return steps
}

/** These steps, which need all of those besides their own needs. Pure. */
function after(before: readonly TrainStep[], steps: readonly TrainStep[]): TrainStep[] {
  const needed = before.map((step) => step.id)
  return steps.map((step) => ({...step, needs: [...needed, ...step.needs]}))
}
