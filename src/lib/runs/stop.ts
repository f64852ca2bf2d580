import {CliError, isCliError, type Context} from '../base/index.ts'
import type {StepOutcome} from '../plan/index.ts'
import type {Cause, NodeRun, NodeRunStatus, RunStopped} from '../protocol/index.ts'
import {isLinkTrouble} from '../ssh/index.ts'
import type {Place} from './find.ts'
import {stateOf, statusOf} from './leading.ts'
import {carryOut, stopPlan, type StopHow} from './plans.ts'
import type {FoundRun} from './types.ts'

export interface Stopped {
  run: string
  /**
   * `unknown`: of the nodes that were asked none knows how it ended; `stopping`: nothing of it is left there, and its
   * supervisors wait for a node that does not answer.
   */
  status: NodeRunStatus | 'unknown'
  /** By node: pids of the run that are alive all the same. Empty everywhere is the proof. */
  left: Record<string, number[]>
  /** Nodes of the run that could not be reached: what is left there is not known. */
  unreached: string[]
}

/**
 * Ends a run on all of its nodes: SIGTERM to its ranks, `grace` seconds, SIGKILL, and a last look (`kill`: no grace).
 * Where it has ended already, nothing happens. Nodes that cannot be reached are warned of, with the command that asks
 * them later. Errors: NODE_UNREACHABLE where none can be reached; SOME_NODES_FAILED or REMOTE_FAILED where one that can
 * has refused, or has a process left.
 */
export async function stopRun(place: Place, run: FoundRun, how: StopHow, context: Context): Promise<Stopped> {
  const outcomes = await carryOut(stopPlan(run, how), {place, tracking: undefined, context})
  const left: Record<string, number[]> = {}
  const states: NodeRun[] = []
  const nodes = run.nodes.map((one, index) => {
    const {node} = one
    const {status, error, value: answer} = outcomes[index] as StepOutcome
    if (status === 'done') {
      const value = answer as RunStopped
      states.push(value.state ?? {...one, status: value.status, live: false, ended: one.ended ?? Date.now() / 1000})
      // Under Slurm the node that tells is not one that the run was on.
      for (const name of value.nodes ?? [node]) left[name] = value.left
      return {
        node,
        ok: value.left.length === 0,
        isSilent: false,
        ...(value.left.length > 0 && {message: `processes ${value.left.join(', ')} are alive`}),
      }
    }
    return {
      node,
      ok: false,
      code: isCliError(error) ? error.code : 'BUG',
      message: (error as Error).message,
      isSilent: isLinkTrouble(error),
    }
  })
  const bad = nodes.filter((one) => !one.ok)
  const isReached = states.length > 0 || bad.some((one) => !one.isSilent)
  if (bad.some((one) => !one.isSilent) || !isReached) {
    throw new CliError(
      !isReached
        ? 'NODE_UNREACHABLE'
        : states.length > 0 && bad.length < nodes.length
          ? 'SOME_NODES_FAILED'
          : 'REMOTE_FAILED',
      `run ${run.run} is not proven to have ended on ${bad.map((one) => one.node).join(', ')}`,
      {
        details: {nodes: nodes.map(({isSilent: _, ...one}) => one), left},
        hint: `flexrack runs stop ${run.run}`,
      },
    )
  }
  const unreached = [...bad.map((one) => one.node), ...unasked(run)]
  if (unreached.length > 0)
    context.reporter.warn(
      `${unreached.join(', ')} could not be reached; whether anything of run ${run.run} is left there is told, once ${unreached.length === 1 ? 'it answers' : 'they answer'}, by: flexrack runs stop ${run.run}`,
    )
  return {run: run.run, status: statusAfter({...run, nodes: states}), left, unreached}
}

/** Nodes that did not answer when the run was looked for. */
function unasked({nodes, absent, removed = []}: FoundRun): string[] {
  if (!absent || nodes.some((one) => one.slurm)) return []
  const known = new Set([...nodes.map((one) => one.node), ...absent, ...removed])
  return [...new Set(nodes.flatMap((one) => one.nodes))].filter((name) => !known.has(name))
}

function statusAfter(run: FoundRun): Stopped['status'] {
  if (run.nodes.length === 0) return 'stopped' // it had not begun anywhere
  return stateOf(run).ended === null ? 'stopping' : statusOf(run).status
}

/** What a failed run is to the caller: RUN_FAILED with the first cause. */
export function failureOf(run: string, {cause, stopped}: {cause: Cause | null; stopped?: boolean}): CliError {
  if (stopped)
    return new CliError('RUN_FAILED', `run ${run} was stopped`, {
      details: {run, status: 'stopped'},
      hint: `flexrack runs show ${run}`,
    })
  const lines = cause?.lines ?? []
  return new CliError('RUN_FAILED', `run ${run} failed: ${cause ? describeCause(cause) : 'no cause is known'}`, {
    details: {
      run,
      ...(cause && {
        node: cause.node,
        ...(cause.rank !== null && {rank: cause.rank}),
        ...(cause.exit !== null && {exit: cause.exit}),
        ...(cause.signal && {signal: cause.signal}),
      }),
      ...(cause &&
        cause.others.length > 0 && {
          consequences: `${cause.others.length} other ${cause.others.length === 1 ? 'rank' : 'ranks'} ended because of it`,
        }),
      ...(lines.length > 0 && {lines}),
    },
    hint: `flexrack runs logs ${run}${cause?.rank === null || cause?.rank === undefined ? '' : ` --rank ${cause.rank}`}`,
  })
}

/** One clause: `rank 3 on node-2 ended with 17: no such file`. */
export function describeCause(cause: Cause): string {
  const who = cause.rank === null ? cause.node : `rank ${cause.rank} on ${cause.node}`
  const how = cause.signal
    ? ` was killed by SIG${cause.signal}`
    : cause.exit === null
      ? ''
      : ` ended with exit code ${cause.exit}`
  return `${who}${how}${cause.message ? `: ${cause.message}` : ''}`
}
