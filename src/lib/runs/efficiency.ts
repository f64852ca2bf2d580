import {CliError, count, isCliError, type Context} from '../base/index.ts'
import {hostOf, type Place} from './find.ts'
import {stateOf} from './leading.ts'
import {measuredOf, runFigures, type RunFigures} from './measured.ts'
import type {FoundRun} from './types.ts'

/** How much of what so many nodes could do a run did, measured by a run on fewer. */
export interface Efficiency {
  /**
   * 1: with every node as much more. Null where there is nothing to compare with, or a run has not told its throughput.
   */
  efficiency: number | null
  /** The run it was compared with. */
  reference: string | null
  referenceNodes: number | null
  /** Of that run, all ranks together. */
  referenceRate: number | null
  unit: 'samples' | 'tokens' | null
  /** In words: which run was taken, or why there is none. */
  why: string
}

/** Runs that are looked at, newest first: each costs a question to a node. */
const MOST_LOOKED = 20

/**
 * Compares with a run of one node: `against` where one is named, else the newest that finished of the same project,
 * with the same command and as many ranks a node, among those the nodes still have. Errors: NOT_FOUND and CONFLICT for
 * `against`.
 */
export async function efficiencyOf(
  place: Place,
  run: FoundRun,
  about: {figures: RunFigures; command: string[]; runs: FoundRun[]; against: FoundRun | undefined},
  context: Context,
): Promise<Efficiency> {
  const {figures, against} = about
  const nothing = (why: string): Efficiency => ({
    efficiency: null,
    reference: null,
    referenceNodes: null,
    referenceRate: null,
    unit: null,
    why,
  })
  const unit = figures.samplesPerSecond !== null ? 'samples' : figures.tokensPerSecond !== null ? 'tokens' : null
  const own = rateOf(figures, unit)
  if (against?.run === run.run)
    throw new CliError('USAGE', `${run.run} cannot be compared with itself`, {hint: 'flexrack runs list'})
  const nodes = nodesOf(run)
  if (nodes === 1 && !against) return nothing('it ran on one node')
  if (unit === null || own === null) return nothing('its ranks did not tell how many samples they trained on')
  const found = against ? await lookAt(place, against, context) : await findReference(place, run, about, context)
  if (!found)
    return nothing(
      `no finished run on one node with the same command and ${count(stateOf(run).processes, 'rank')} a node is on the nodes that answer`,
    )
  const theirs = rateOf(found.figures, unit)
  const requested = nodesOf(found.run)
  if (theirs === null)
    return {
      ...nothing(`${found.run.run} did not tell how many ${unit} it trained on`),
      reference: found.run.run,
      referenceNodes: requested,
    }
  return {
    efficiency: own / nodes / (theirs / requested),
    reference: found.run.run,
    referenceNodes: requested,
    referenceRate: theirs,
    unit,
    why: against ? 'as asked for' : 'the newest finished run on one node with the same command and ranks a node',
  }
}

interface Looked {
  run: FoundRun
  figures: RunFigures
}

async function findReference(
  place: Place,
  run: FoundRun,
  {command, runs}: {command: string[]; runs: FoundRun[]},
  context: Context,
): Promise<Looked | undefined> {
  const self = stateOf(run)
  const candidates = runs.filter((one) => {
    const state = stateOf(one)
    return (
      one.run !== run.run &&
      nodesOf(one) === 1 &&
      state.project === self.project &&
      state.processes === self.processes &&
      state.launcher === self.launcher &&
      state.status === 'finished'
    )
  })
  for (const one of candidates.slice(0, MOST_LOOKED)) {
    const looked = await lookAt(place, one, context, command).catch((error: unknown) => {
      if (!isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT', 'NOT_FOUND')) throw error
    })
    if (looked && (looked.figures.samplesPerSecond ?? looked.figures.tokensPerSecond) !== null) return looked
  }
  return undefined
}

/** Undefined where its command is not `command`. */
async function lookAt(place: Place, run: FoundRun, context: Context, command?: string[]): Promise<Looked | undefined> {
  const details = await Promise.all(
    run.nodes.map(async ({node}) =>
      (await hostOf(place, node, context)).call('run.state', {run: run.run}, {signal: context.signal}),
    ),
  )
  if (command && JSON.stringify(details[0]?.command) !== JSON.stringify(command)) return undefined
  return {run, figures: runFigures(await measuredOf(place, run, context), details, Date.now() / 1000)}
}

function nodesOf(run: FoundRun): number {
  const state = stateOf(run)
  return state.slurm?.nodes ?? state.nodes.length
}

function rateOf(figures: RunFigures, unit: Efficiency['unit']): number | null {
  return unit === 'tokens' ? figures.tokensPerSecond : figures.samplesPerSecond
}
