import {createWriteStream} from 'node:fs'
import {mkdir, rename, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {finished} from 'node:stream/promises'
import {CliError, isCliError, type Context} from '../base/index.ts'
import type {NodeProfile, RankProfile} from '../protocol/index.ts'
import {askNodes} from './ask-nodes.ts'
import {hostOf, type Place} from './find.ts'
import type {FoundRun} from './types.ts'

export interface RunProfile {
  run: string
  /** Steps that each rank was to record, after others. */
  wanted: NodeProfile['wanted']
  /** Traces may still come. */
  live: boolean
  /** By rank. */
  ranks: RankProfile[]
  /** The rank whose recorded steps took longest, where there are several. */
  slowest: number | null
  /** Nodes that could not be asked, and why. */
  failed: {node: string; message: string}[]
}

/**
 * What the ranks' profiles tell; traces are summed up where they are. Errors: CONFLICT where the run was not profiled,
 * those of hostOf where no node answers.
 */
export async function profileOf(place: Place, run: FoundRun, context: Context): Promise<RunProfile> {
  const {values, failed} = await askNodes(
    place,
    run,
    (host) => host.call('run.profile', {run: run.run}, {signal: context.signal}),
    context,
  )
  const [first] = values
  if (!first)
    throw (
      failed.find(({error}) => isCliError(error, 'CONFLICT'))?.error ??
      failed[0]?.error ??
      new CliError('NOT_FOUND', `no node has run ${run.run}`)
    )
  const ranks = values.flatMap((value) => value.ranks).sort((a, b) => a.rank - b.rank)
  return {
    run: run.run,
    wanted: first.wanted,
    live: values.some((value) => value.live),
    ranks,
    slowest: slowestOf(ranks),
    failed: failed.map(({node, error}) => ({node, message: (error as Error).message})),
  }
}

/**
 * Seconds that a rank needed itself: its recorded steps without what it waited in collectives alone. All ranks of a
 * step end together, so the one that waits least is the one that the others wait for. Pure.
 */
export function slowestOf(ranks: readonly RankProfile[]): number | null {
  const own = ranks.flatMap(({rank, summary}) =>
    summary ? [{rank, seconds: summary.seconds - (summary.collectives.seconds - summary.collectives.overlapped)}] : [],
  )
  if (own.length < 2) return null
  return own.reduce((most, one) => (one.seconds > most.seconds ? one : most)).rank
}

/** Brings the traces to `folder`, as RUN-rank-R.trace.json.gz, whole or not at all. Returns the paths. */
export async function bringTraces(
  place: Place,
  {run, ranks}: Pick<RunProfile, 'run' | 'ranks'>,
  folder: string,
  context: Context,
): Promise<string[]> {
  await mkdir(folder, {recursive: true})
  const paths: string[] = []
  for (const {rank, node, path} of ranks) {
    if (path === null || !Number.isSafeInteger(rank)) continue // a node names no file of this machine
    const target = join(folder, `${run}-rank-${rank}.trace.json.gz`)
    const partial = `${target}.partial`
    const file = createWriteStream(partial, {mode: 0o600})
    try {
      await (
        await hostOf(place, node, context)
      ).call(
        'run.trace',
        {run, rank},
        {signal: context.signal, onEvent: ({data}) => file.write(Buffer.from(data, 'base64'))},
      )
      file.end()
      await finished(file)
      await rename(partial, target)
    } catch (error) {
      file.destroy()
      await rm(partial, {force: true})
      throw error
    }
    paths.push(target)
  }
  return paths
}
