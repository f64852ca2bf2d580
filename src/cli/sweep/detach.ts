import {openHandover, startBackground} from '../../lib/background/index.ts'
import {count, type Context} from '../../lib/base/index.ts'
import {
  findSweep,
  planSweep,
  runSweep,
  type Sweep,
  type SweepChoice,
  type SweepPlan,
  type SweepWatch,
} from '../../lib/sweep/index.ts'
import type {ProjectSession, SessionFlags} from '../base/session.ts'
import {trialNews} from './text.ts'

/** What is said of a sweep while it goes. */
export function tellSweep(
  plan: SweepPlan,
  {reporter}: Pick<Context, 'reporter'>,
): Required<Omit<SweepWatch, 'onLost'>> {
  return {
    onOpen: (sweep, resumed) => reporter.note(`sweep ${sweep}${resumed ? ' goes on' : ''}: ${plan.parallel} at a time`),
    onTrial: (event, trial) => reporter.note(trialNews(event, trial, plan.spec.metric)),
  }
}

/**
 * Starts the process that drives the sweep, and waits until it does: its first trial runs, or all of them are over.
 * What it may be told by the command line is only where to look; the words after `--` and all else go through a pipe.
 * Errors: those of that process.
 */
export async function detachSweep(
  plan: SweepPlan,
  {rack, fleet, manifest}: ProjectSession,
  {choice, where, program}: {choice: SweepChoice; where: SessionFlags; program: string[]},
  context: Context,
): Promise<Sweep> {
  const order: SweepChoice = {...choice, ...(plan.resumed ? {resume: plan.sweep} : {id: plan.sweep}), unattended: true}
  const words = [
    ...program,
    'sweep',
    'drive',
    plan.sweep,
    ...(where.rack === undefined ? [] : ['--rack', where.rack]),
    ...(where.project === undefined ? [] : ['--project', where.project]),
  ]
  await startBackground({name: plan.sweep, project: manifest.name, words, order}, context)
  return findSweep({rack, fleet}, plan.sweep, context)
}

/** That process. Every error is told to who has started it, too. */
export async function driveInBackground(openPlace: () => Promise<ProjectSession>, context: Context): Promise<void> {
  const handover = await openHandover<SweepChoice>(context)
  const own: Context = {...context, reporter: handover.reporter}
  try {
    const place = await openPlace()
    // What it warns of was told before we were started, and stands in our log alone.
    const plan = await planSweep(place, handover.order, context)
    const tell = tellSweep(plan, own)
    const {status, best, trials} = await runSweep(
      plan,
      place,
      handover.order,
      {
        async onOpen(...opened) {
          await tell.onOpen(...opened)
          await handover.taken()
        },
        onLost: (error) => handover.lost(error.message),
        onTrial(event, trial) {
          tell.onTrial(event, trial)
          if (event !== 'ended') void handover.begun()
        },
      },
      own,
    )
    own.reporter.note(
      `sweep ${plan.sweep} ${status}: ${count(trials.length, 'trial')}, ${best ? `the best is trial ${best.number}, run ${best.run}` : 'none of them complete'}`,
    )
    await handover.over()
  } catch (error) {
    await handover.failed(error)
    throw error
  }
}
