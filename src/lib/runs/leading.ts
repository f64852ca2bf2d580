import {CliError} from '../base/index.ts'
import type {NodeRun, NodeRunDetail, NodeRunStatus} from '../protocol/index.ts'
import type {FoundRun} from './types.ts'

/** What a node says of who leads a run, and what its word is worth. */
export type Reported = Pick<NodeRun, 'node' | 'term' | 'leader'> &
  Partial<Pick<NodeRun, 'index' | 'live' | 'committed'>>

/**
 * The node whose word about a run counts, of those that answer: of the newest term, the one that leads it. Where that
 * one does not answer, or has died before it could write its result down, one that has this, then one that is still at
 * it, then whoever is left. Pure.
 */
export function stateOf<T extends Reported>({run, nodes}: {run: string; nodes: T[]}): T {
  const newest = Math.max(...nodes.map((one) => one.term))
  const worth = (one: T): number => {
    const isLeader = one.node === one.leader
    return isLeader && (one.committed || one.live) ? 4 : one.committed ? 3 : one.live ? 2 : isLeader ? 1 : 0
  }
  const [best] = nodes
    .filter((one) => one.term === newest)
    .sort((a, b) => worth(b) - worth(a) || (a.index ?? 0) - (b.index ?? 0))
  if (!best) throw new Error(`run ${run} without a node`)
  return best
}

/**
 * So many of a run's nodes answer that one of them knew of a newer term, if there were one: those that chose its leader
 * were a majority, too. `answers`: names of those that answer, also that they have nothing of the run.
 */
export function isQuorum(answers: string[], nodes: string[]): boolean {
  return nodes.filter((name) => answers.includes(name)).length * 2 > nodes.length
}

/** Why nobody who answers knows how a run ended. */
export interface Doubt {
  /** Who knows it, or may. */
  nodes: string[]
  /** One sentence. */
  message: string
}

/**
 * How a run is, by those of its nodes that answer; `unknown` where it is over on all of them and none knows how it
 * ended. Pure.
 */
export function statusOf(run: FoundRun): {status: NodeRunStatus | 'unknown'; doubt: Doubt | null} {
  const best = stateOf(run)
  const doubt = isGoingOn(run) || best.ended === null ? undefined : doubtOf(run)
  return {status: doubt ? 'unknown' : best.status, doubt: doubt ?? null}
}

/** Somebody who answers is at it; a node that looks for its gang after a reboot is not, where the run is over. Pure. */
export function isGoingOn(run: FoundRun): boolean {
  const best = stateOf(run)
  const looks = (one: NodeRun): boolean => best.committed && one.status === 'waiting' && (one.returned ?? 0) > 0
  return best.live || run.nodes.some((one) => one.live && one.ended === null && !looks(one))
}

/**
 * How a run ended that is over on all of its nodes that answer: the word that counts among them. Pure.
 * Errors: NODE_UNREACHABLE where none of them knows, see doubtOf.
 */
export function endOf(run: FoundRun & {nodes: NodeRunDetail[]}): NodeRunDetail {
  const doubt = doubtOf(run)
  if (doubt)
    throw new CliError('NODE_UNREACHABLE', doubt.message, {
      hint: `flexrack runs show ${run.run}`,
      details: {node: doubt.nodes[0], run: run.run},
    })
  return stateOf(run)
}

/**
 * None of those that answer knows the end: the leader does not answer, and its members know only that nobody leads them
 * any more; or the leader has lost so many of the others that these may go on without it.
 */
function doubtOf({run, nodes, absent = [], removed = []}: FoundRun): Doubt | undefined {
  const best = stateOf({run, nodes})
  const {node, leader, cause} = best
  const isLed = node === leader
  const over = nodes.map((one) => one.node)
  const [heard, pool] = [[...over, ...absent], best.nodes.filter((name) => !removed.includes(name))]
  if (best.committed || best.slurm || (isLed && (!best.replaceable || isQuorum(heard, pool)))) return undefined
  const why = cause?.message ?? 'it is over'
  const silent = pool.filter((name) => !heard.includes(name))
  if (isLed)
    return {
      nodes: silent,
      message: `${leader}, which led run ${run}, has ended its part of it (${why}); ${silent.join(', ')} ${silent.length > 1 ? 'do' : 'does'} not answer, so whether the run goes on there is not known`,
    }
  const gone = removed.includes(leader) ? 'is no node of the rack any more' : 'does not answer any more'
  return {
    nodes: [leader],
    message: `${leader}, which led run ${run}, ${gone}, so how the run ended is not known; it is over on ${over.join(', ')} (${node}: ${why})`,
  }
}
