import {CliError, isCliError, type Context} from '../base/index.ts'
import {hostOf, type Place} from './find.ts'
import {stateOf} from './leading.ts'
import type {Cause, FoundRun, NodeRunStatus} from './types.ts'

export interface Stopped {
  run: string
  status: NodeRunStatus
  /** By node: pids of the run that are alive all the same. Empty everywhere is the proof. */
  left: Record<string, number[]>
}

/**
 * Ends a run on all of its nodes: SIGTERM to its ranks, `grace` seconds, SIGKILL, and a last look (`kill`: no grace). Where it has
 * ended already, nothing happens. Errors: SOME_NODES_FAILED where a node could not be asked, REMOTE_FAILED where a process is left.
 */
export async function stopRun(place: Place, run: FoundRun, how: {grace?: number | undefined; kill?: boolean}, context: Context): Promise<Stopped> {
  const answers = await Promise.allSettled(
    run.nodes.map(async ({node}) => {
      const host = await hostOf(place, node, context)
      return host.call<{status: NodeRunStatus; left: number[]; nodes?: string[]}>('run.stop', {run: run.run, grace: how.grace, kill: how.kill ?? false})
    }),
  )
  const left: Record<string, number[]> = {}
  const nodes = run.nodes.map(({node}, index) => {
    const answer = answers[index] as (typeof answers)[number]
    if (answer.status === 'fulfilled') {
      // Under Slurm the node that tells is not one that the run was on.
      for (const name of answer.value.nodes ?? [node]) left[name] = answer.value.left
      return {node, ok: answer.value.left.length === 0, ...(answer.value.left.length > 0 && {message: `processes ${answer.value.left.join(', ')} are alive`})}
    }
    const error: unknown = answer.reason
    return {node, ok: false, code: isCliError(error) ? error.code : 'BUG', message: (error as Error).message}
  })
  const bad = nodes.filter((one) => !one.ok)
  if (bad.length > 0) {
    throw new CliError(bad.length < nodes.length ? 'SOME_NODES_FAILED' : 'REMOTE_FAILED', `run ${run.run} is not proven to have ended on ${bad.map((one) => one.node).join(', ')}`, {
      details: {nodes, left},
      hint: `flexrack runs stop ${run.run}`,
    })
  }
  const leader = answers[run.nodes.indexOf(stateOf(run))]
  return {run: run.run, status: leader?.status === 'fulfilled' ? leader.value.status : 'stopped', left}
}

/** What a failed run is to the caller: RUN_FAILED with the first cause. */
export function failureOf(run: string, {cause, stopped}: {cause: Cause | null; stopped?: boolean}): CliError {
  if (stopped) return new CliError('RUN_FAILED', `run ${run} was stopped`, {details: {run, status: 'stopped'}, hint: `flexrack runs show ${run}`})
  const lines = cause?.lines ?? []
  return new CliError('RUN_FAILED', `run ${run} failed: ${cause ? describeCause(cause) : 'no cause is known'}`, {
    details: {
      run,
      ...(cause && {node: cause.node, ...(cause.rank !== null && {rank: cause.rank}), ...(cause.exit !== null && {exit: cause.exit}), ...(cause.signal && {signal: cause.signal})}),
      ...(cause && cause.others.length > 0 && {consequences: `${cause.others.length} other ${cause.others.length === 1 ? 'rank' : 'ranks'} ended because of it`}),
      ...(lines.length > 0 && {lines}),
    },
    hint: `flexrack runs logs ${run}${cause?.rank === null || cause?.rank === undefined ? '' : ` --rank ${cause.rank}`}`,
  })
}

/** One clause: `rank 3 on node-2 ended with 17: no such file`. */
export function describeCause(cause: Cause): string {
  const who = cause.rank === null ? cause.node : `rank ${cause.rank} on ${cause.node}`
  const how = cause.signal ? ` was killed by SIG${cause.signal}` : cause.exit === null ? '' : ` ended with exit code ${cause.exit}`
  return `${who}${how}${cause.message ? `: ${cause.message}` : ''}`
}
