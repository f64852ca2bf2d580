import {CliError, type Context} from '../../lib/base/index.ts'
import {failureOf} from '../../lib/runs/index.ts'
import {runPlan, type Trained, type TrainPlan} from '../../lib/train/index.ts'
import type {ProjectSession} from '../base/session.ts'
import {linePrinter, newsTeller} from '../runs/follow.ts'
import {throwWithPreflight} from './preflight-text.ts'
import {trainStatus} from './status.ts'

/**
 * Carries the plan out, and shows on the terminal how it goes; the line that tells of it is status.ts. `started` is called
 * once the run is running. Errors: those of runPlan, with what preflight found.
 */
export async function showTraining(
  train: TrainPlan,
  place: ProjectSession,
  {
    watchEvery,
    json,
    detach,
    started,
  }: {
    watchEvery: string | undefined
    json: boolean
    detach: boolean
    started?: () => void
  },
  context: Context,
): Promise<Trained> {
  const status = trainStatus(place, {watchEvery, json, detach}, context)
  return runPlan(
    train,
    place,
    {
      detach,
      onStart: (run, how) => {
        started?.()
        status.onStart(run, how)
      },
      onLines: linePrinter(json),
      onNews: newsTeller(context),
    },
    context,
  )
    .catch((error: unknown) => throwWithPreflight(error, json))
    .finally(() => status.close())
}

/** Once its answer is there, a run that did not finish is an error, unless it goes on. Throws INTERRUPTED, RUN_FAILED. */
export function throwUnfinished(trained: Trained): void {
  if (trained.status === 'stopped')
    throw new CliError('INTERRUPTED', `run ${trained.run} was stopped`, {hint: `flexrack runs show ${trained.run}`})
  if (trained.status === 'failed') throw failureOf(trained.run, {cause: trained.cause})
}
