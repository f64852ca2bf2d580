import {CliError, isCliError, makeContext, type Context} from '../base/index.ts'
import {openTracking, type Tracking} from '../head/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {Experiment, Mlflow, TrackedRun} from '../tracking/index.ts'
import type {Place} from './find.ts'

/** Tag of the tracking server's run that holds the run's id. */
export const RUN_TAG = 'flexrack.run'

/** What is not there, or not for who asks. */
const CLOSED = ['NOT_FOUND', 'REFUSED'] as const

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

/**
 * A record, wherever it is: in the project's workspace, in another one that is open to who asks, or in the default one.
 * Errors: NOT_FOUND, and those of the project's own.
 */
export async function recordAt(tracking: Tracking, id: string): Promise<{record: TrackedRun; mlflow: Mlflow}> {
  const get = async (mlflow: Mlflow): Promise<{record: TrackedRun; mlflow: Mlflow}> => ({
    record: await mlflow.getRun(id),
    mlflow,
  })
  try {
    return await get(tracking.mlflow)
  } catch (error) {
    if (!isCliError(error, ...CLOSED)) throw error
    for (const mlflow of await tracking.elsewhere()) {
      const found = await get(mlflow).catch((other: unknown) => {
        if (!isCliError(other, ...CLOSED)) throw other
      })
      if (found) return found
    }
    throw error
  }
}

/**
 * Runs of flexrack in an experiment of the project, or all that who asks may see, newest first. `away` is set where the
 * server does not answer.
 */
export async function searchRecords(
  records: Records,
  experiment: string | undefined,
  limit: number,
): Promise<TrackedRun[]> {
  if (!records.tracking) return []
  const {mlflow} = records.tracking
  try {
    if (experiment !== undefined) return await runsIn(mlflow, [await mlflow.findExperiment(experiment)], limit)
    return await allRuns([mlflow, ...(await records.tracking.elsewhere())], limit)
  } catch (error) {
    if (!isCliError(error, 'NODE_UNREACHABLE', 'HEAD_FAILED', 'TIMED_OUT', 'REFUSED')) throw error
    records.away = error.message
    return []
  }
}

/** Of all places; those that are closed to who asks have none for them. Errors: REFUSED where all are closed. */
async function allRuns(places: readonly Mlflow[], limit: number): Promise<TrackedRun[]> {
  const answers = await Promise.all(
    places.map(async (one): Promise<TrackedRun[] | CliError> => {
      try {
        return await runsIn(one, await one.searchExperiments(), limit)
      } catch (error) {
        if (isCliError(error, ...CLOSED)) return error
        throw error
      }
    }),
  )
  const open = answers.filter((one) => Array.isArray(one))
  if (open.length === 0 && answers[0] instanceof CliError) throw answers[0]
  // a project that is not kept apart is where all others are
  const runs = new Map(open.flat().map((one) => [one.id, one]))
  return [...runs.values()].toSorted((a, b) => b.startTime - a.startTime).slice(0, limit)
}

async function runsIn(
  mlflow: Mlflow,
  experiments: readonly (Experiment | undefined)[],
  limit: number,
): Promise<TrackedRun[]> {
  const experimentIds = experiments.flatMap((one) => (one?.stage === 'active' ? [one.id] : []))
  if (experimentIds.length === 0) return []
  const runs = await mlflow.searchRuns({experimentIds, limit})
  return runs.filter((run) => run.tags[RUN_TAG] !== undefined)
}
