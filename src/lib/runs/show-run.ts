import {CliError, isCliError, type Context} from '../base/index.ts'
import type {NodeRunDetail} from '../protocol/index.ts'
import {efficiencyOf} from './efficiency.ts'
import {chooseRun, hostOf, type Place} from './find.ts'
import {stateOf} from './leading.ts'
import {mergeRuns} from './list.ts'
import {measuredOf, runFigures} from './measured.ts'
import {reconcileRuns} from './reconcile.ts'
import {findRecord, type Sources} from './recorded.ts'
import {recordAt, type Records} from './records.ts'
import {unsentOf} from './repair.ts'
import {codesOf, ranksOf, type ShownRun} from './show.ts'
import type {FoundRun} from './types.ts'

/** Everything there is to know about one run. `against`: the run that its scaling is compared with. */
export async function showRun(
  sources: Sources,
  place: Place,
  name: string | undefined,
  against: string | undefined,
  context: Context,
): Promise<ShownRun> {
  const {project} = sources
  const [looked, open] = await Promise.all([sources.look(), sources.records()])
  const found = await findOr(() => chooseRun(looked.runs, name, project, [...looked.failed.keys()]), name)
  if (found) await reconcileRuns(place, [found], open, context)
  const details = found ? await detailsOf(place, found, context) : []
  const trackedId = found ? stateOf(found).tracked : null
  const home = await homeOf(open, found ? trackedId : (await findRecord(sources, name as string)).id)
  const record = home?.record
  const fresh: FoundRun[] = found ? [{...found, nodes: details}] : []
  const [entry] = mergeRuns(fresh, record ? [record] : [], {everyNodeQueried: true})
  if (!entry) throw new CliError('NOT_FOUND', `there is no run ${name ?? ''}`, {hint: 'flexrack runs list'})
  const leader = details.length > 0 ? stateOf({run: name ?? '', nodes: details}) : undefined
  const figures = found ? runFigures(await measuredOf(place, found, context), details, Date.now() / 1000) : null
  const other = against === undefined ? undefined : chooseRun(looked.runs, against, project, [...looked.failed.keys()])
  const scaling =
    found && figures
      ? await efficiencyOf(
          place,
          {run: found.run, nodes: details},
          {figures, command: leader?.command ?? [], runs: looked.runs, against: other},
          context,
        )
      : null
  const artifacts = home ? await home.mlflow.walkArtifacts(home.record.id).catch(() => []) : []
  return {
    ...entry,
    command: leader?.command ?? record?.tags['flexrack.command']?.split(' ') ?? [],
    environment: leader?.environment ?? record?.tags['flexrack.environment'] ?? null,
    commit: leader?.commit ?? record?.tags['mlflow.source.git.commit'] ?? null,
    code: codesOf(details),
    data: leader?.data ?? [],
    uploads: details.flatMap(({node, uploaded}) => (uploaded ? [{node, ...uploaded}] : [])),
    params: record?.params ?? {},
    tags: record?.tags ?? {},
    lastMetrics: Object.values(record?.metrics ?? {})
      .filter((one) => !one.key.startsWith('system/'))
      .sort((a, b) => a.key.localeCompare(b.key)),
    artifacts,
    attempts: leader?.result?.attempts ?? [],
    ranks: ranksOf(details),
    figures,
    scaling,
    unsent: found ? await unsentOf(place, found, context) : [],
    hangs: details.flatMap((one) => one.hangs ?? []).sort((a, b) => a.at - b.at),
    folders: Object.fromEntries(details.map((one) => [one.node, one.folder])),
    away: open.away ?? null,
  }
}

/** What the nodes of a run know of it now. */
export async function detailsOf(place: Place, run: FoundRun, context: Context): Promise<NodeRunDetail[]> {
  return Promise.all(
    run.nodes.map(async ({node}) =>
      (await hostOf(place, node, context)).call('run.state', {run: run.run}, {signal: context.signal}),
    ),
  )
}

async function homeOf(
  records: Records,
  trackedId: string | null,
): Promise<Awaited<ReturnType<typeof recordAt>> | undefined> {
  if (trackedId === null || !records.tracking) return undefined
  try {
    return await recordAt(records.tracking, trackedId)
  } catch (error) {
    if (!isCliError(error)) throw error
    records.away = error.message
    return undefined
  }
}

/** A run that no node knows may still have a record, if it was named whole. */
async function findOr(choose: () => FoundRun, name: string | undefined): Promise<FoundRun | undefined> {
  try {
    return choose()
  } catch (error) {
    if (name !== undefined && isCliError(error, 'NOT_FOUND') && error.details.nearest === undefined) return undefined
    throw error
  }
}
