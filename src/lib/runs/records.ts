import {isCliError, makeContext, type Context} from '../base/index.ts'
import {openTracking, type Tracking} from '../head/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {TrackedRun} from '../tracking/index.ts'
import type {Place} from './find.ts'

/** Tag of the tracking server's run that holds the run's id. */
export const RUN_TAG = 'flexrack.run'

/** The tracking server, or why it cannot be asked. */
export interface Records {
  tracking: Tracking | undefined
  /** For people; undefined where it answers. */
  away: string | undefined
}

/**
 * Opens the tracking server if it answers; a head that is not there is no error, because the nodes' files tell enough.
 */
export async function openRecords(
  place: Place & {manifest?: Manifest | undefined},
  context: Context,
): Promise<Records> {
  const away = place.manifest?.tracking.uri === undefined ? place.away?.get(place.rack.head.node) : undefined
  if (away) return {tracking: undefined, away: away.message}
  try {
    // Still wanted after the first Ctrl-C, to show what a stopped run has left.
    const tracking = await openTracking(place, makeContext({...context, signal: context.kill}))
    return {tracking, away: undefined}
  } catch (error) {
    if (!isCliError(error)) throw error
    return {tracking: undefined, away: error.message}
  }
}

/** Runs of flexrack in an experiment (or all), newest first. `away` is set where the server does not answer. */
export async function searchRecords(
  records: Records,
  experiment: string | undefined,
  limit: number,
): Promise<TrackedRun[]> {
  if (!records.tracking) return []
  const {mlflow} = records.tracking
  try {
    const found =
      experiment === undefined ? await mlflow.searchExperiments() : [await mlflow.findExperiment(experiment)]
    const experimentIds = found
      .filter((one) => one !== undefined && one.stage === 'active')
      .map((one) => (one as {id: string}).id)
    if (experimentIds.length === 0) return []
    const runs = await mlflow.searchRuns({experimentIds, limit})
    return runs.filter((run) => run.tags[RUN_TAG] !== undefined)
  } catch (error) {
    if (!isCliError(error, 'NODE_UNREACHABLE', 'HEAD_FAILED', 'TIMED_OUT', 'REFUSED')) throw error
    records.away = error.message
    return []
  }
}
