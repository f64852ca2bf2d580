import {CliError, isCliError, type Context} from '../base/index.ts'
import type {RankStack, StackFrame} from '../protocol/index.ts'
import {askNodes} from './ask-nodes.ts'
import type {Place} from './find.ts'
import type {FoundRun} from './types.ts'

export interface RunStacks {
  run: string
  attempt: number
  ranks: RankStack[]
  /** Ranks whose main thread is at the same place. */
  groups: {ranks: number[]; frames: StackFrame[]}[]
  /** Nodes that could not be asked, and why. */
  failed: {node: string; message: string}[]
}

/**
 * The stacks of all ranks of a live run, right now; `rank`: of this one alone. Errors: CONFLICT where no rank is alive,
 * under Slurm where the job does not run; NODE_UNREACHABLE where no node answers.
 */
export async function takeStacks(
  place: Place,
  run: FoundRun,
  rank: number | undefined,
  context: Context,
): Promise<RunStacks> {
  const {values, failed} = await askNodes(
    place,
    run,
    (host) => host.call('run.stacks', {run: run.run, rank: rank ?? null}, {signal: context.signal}),
    context,
  )
  const ranks = values.flatMap((value) => value.ranks).sort((a, b) => a.rank - b.rank)
  if (ranks.length === 0) {
    const silent = values.flatMap((value) => value.failed ?? [])[0]
    if (silent)
      throw new CliError(
        'NODE_UNREACHABLE',
        `no rank that was asked for is told of, and ${silent.node} could not be asked: ${silent.message}`,
        {hint: `flexrack runs show ${run.run}`},
      )
    const first = failed.find(({error}) => !isCliError(error, 'CONFLICT'))?.error ?? failed[0]?.error
    if (first) throw first
    throw new CliError(
      'NOT_FOUND',
      rank === undefined ? `no rank of ${run.run} is alive` : `no rank ${rank} of ${run.run} is alive`,
      {hint: `flexrack runs show ${run.run}`},
    )
  }
  return {
    run: run.run,
    attempt: Math.max(...values.map((value) => value.attempt)),
    ranks,
    groups: groupStacks(ranks),
    failed: [
      ...values.flatMap((value) => value.failed ?? []),
      ...failed.map(({node, error}) => ({node, message: (error as Error).message})),
    ],
  }
}

/** Ranks whose main threads are in the same functions at the same lines, largest group first. Pure. */
export function groupStacks(ranks: RankStack[]): RunStacks['groups'] {
  const groups = new Map<string, {ranks: number[]; frames: StackFrame[]}>()
  for (const one of ranks) {
    const frames = one.threads[0]?.frames ?? []
    // Nodes may have the same program in different folders.
    const key =
      frames.length === 0
        ? `rank ${one.rank}`
        : frames.map((frame) => `${shortFile(frame.file, one.cwd)}:${frame.line}:${frame.function}`).join('\n')
    const known = groups.get(key)
    if (known) known.ranks.push(one.rank)
    else
      groups.set(key, {
        ranks: [one.rank],
        frames: frames.map((frame) => ({...frame, file: shortFile(frame.file, one.cwd)})),
      })
  }
  return [...groups.values()].sort(
    (a, b) => b.ranks.length - a.ranks.length || (a.ranks[0] as number) - (b.ranks[0] as number),
  )
}

/** Without the project's folder, or without everything up to the library folder. */
export function shortFile(file: string, cwd: string | null | undefined): string {
  if (cwd && file.startsWith(`${cwd}/`)) return file.slice(cwd.length + 1)
  return file.replace(/^.*\/(?:(?:site|dist)-packages|lib\/python3[^/]*)\//, '')
}
