import {CliError, isCliError, type Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {EventFile} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {FoundRun} from '../runs/index.ts'
import type {Fleet} from '../ssh/index.ts'

/** Event files of runs on one node. */
export interface NodeEvents {
  node: string
  files: EventFile[]
  bytes: number
  /** A run of them goes on there: more may come. */
  live: boolean
  /** Folders that were looked through. */
  looked: string[]
  /** False: there is more in them than is looked through. */
  whole: boolean
}

export interface FoundEvents {
  nodes: NodeEvents[]
  failed: {node: string; message: string}[]
}

/** Where a rack's nodes are reached. */
export interface BoardPlace {
  rack: Rack
  fleet: Fleet
}

/**
 * Asks every node of the runs for their event files; with `rank` for those of one rank. Throws only where no node
 * answers.
 */
export async function findEvents(
  place: BoardPlace,
  runs: readonly FoundRun[],
  rank: number | undefined,
  context: Context,
): Promise<FoundEvents> {
  const names = [...new Set(runs.flatMap((run) => run.nodes.map(({node}) => node)))]
  const answers = await Promise.allSettled(
    names.map(async (node) => eventsOn(await hostAt(place, node, context), idsOn(runs, node), rank, context.signal)),
  )
  const nodes = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const failed = answers.flatMap((answer, index) =>
    answer.status === 'rejected' ? [{node: names[index] as string, error: answer.reason as Error}] : [],
  )
  if (nodes.length === 0 && failed[0]) throw failed[0].error
  return {nodes, failed: failed.map(({node, error}) => ({node, message: error.message}))}
}

/** The same of one node. A run that was removed meanwhile has none. */
export async function eventsOn(
  host: Host,
  runs: readonly string[],
  rank: number | undefined,
  signal: AbortSignal,
): Promise<NodeEvents> {
  const one: NodeEvents = {node: host.node, files: [], bytes: 0, live: false, looked: [], whole: true}
  for (const run of runs) {
    try {
      const {files, looked, live, whole} = await host.call(
        'board.find',
        {run, ...(rank !== undefined && {rank})},
        {signal},
      )
      one.files.push(...files)
      one.looked.push(...looked)
      one.live ||= live
      one.whole &&= whole
    } catch (error) {
      if (!isCliError(error, 'NOT_FOUND')) throw error
    }
  }
  one.bytes = one.files.reduce((sum, {bytes}) => sum + bytes, 0)
  return one
}

export function idsOn(runs: readonly FoundRun[], node: string): string[] {
  return runs.filter((run) => run.nodes.some((one) => one.node === node)).map(({run}) => run)
}

/** Errors: those of openHost; NOT_FOUND where the rack has no such node any more. */
export async function hostAt({rack, fleet}: BoardPlace, name: string, context: Context): Promise<Host> {
  const node = rack.nodes.find((one) => one.name === name)
  if (!node)
    throw new CliError('NOT_FOUND', `rack ${rack.name} has no node ${name} any more`, {
      hint: `flexrack rack show ${rack.name}`,
    })
  return openHost(fleet, node, context)
}
