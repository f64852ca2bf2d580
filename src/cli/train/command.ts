import type {Context} from '../../lib/base/index.ts'
import type {Trained, TrainPlan} from '../../lib/train/index.ts'
import type {ProjectSession} from '../base/session.ts'
import {leavingText} from '../rack/until.ts'
import {parentsNamed} from './parents.ts'
import {trainChoice, type TrainWords} from './choice.ts'

/** What `train` came to: a plan, a script, or a run that ended, or goes on. */
export type TrainOutcome =
  | {kind: 'planned'; train: TrainPlan}
  | {kind: 'script'; run: string; script: string}
  | {kind: 'trained'; trained: Trained}

/**
 * `train` on one rack. `started` is called once the run is running there; `isOneOf`: of several that may do it. Errors:
 * those of planTrain and runPlan.
 */
export async function trainOn(
  place: ProjectSession,
  flags: TrainWords & {detach: boolean; 'watch-every'?: string | undefined},
  {args, json, started, isOneOf}: {args: string[]; json: boolean; started?: () => void; isOneOf?: boolean},
  context: Context,
): Promise<TrainOutcome> {
  const [{openTrainTracking, planTrain, SLURM}, {showTraining}] = await Promise.all([
    import('../../lib/train/index.ts'),
    import('./run.ts'),
  ])
  const train = await planTrain(
    place,
    {...(await trainChoice(flags, args)), ...(await parentsNamed(flags.from, place, context))},
    context,
  )
  const leaving = leavingText(train.spec.placements.map((one) => one.node))
  if (leaving !== '') context.reporter.note(leaving)
  if (flags['dry-run']) {
    // the next rack is tried where this one's head is away, as a start would
    const {tracked, project} = train.spec
    if (isOneOf && tracked)
      await (await openTrainTracking(place, place.manifest.tracking.uri, project, context)).close()
    return {kind: 'planned', train}
  }
  if (flags.emit) {
    if (train.workspaces.plan.steps.length > 0)
      context.reporter.note(`before it is submitted: flexrack workspace up --on ${place.rack.slurm?.login}`)
    return {kind: 'script', run: train.spec.run, script: SLURM.handScript(train)}
  }
  const watch = {watchEvery: flags['watch-every'], json, detach: flags.detach, ...(started && {started})}
  return {kind: 'trained', trained: await showTraining(train, place, watch, context)}
}
