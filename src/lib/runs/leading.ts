import {CliError} from '../base/index.ts'
import type {NodeRun, NodeRunDetail} from './types.ts'

/** What a node says of who leads a run, and what its word is worth. */
export type Told = Pick<NodeRun, 'node' | 'epoch' | 'leader'> & Partial<Pick<NodeRun, 'index' | 'live' | 'judged'>>

/**
 * The node whose word about a run counts, of those that answer: of the newest epoch, the one that leads it. Where that one does not answer, or has died
 * before it could write its judgement down, one that has this, then one that is still at it, then whoever is left. Pure.
 */
export function stateOf<T extends Told>({run, nodes}: {run: string; nodes: T[]}): T {
  const newest = Math.max(...nodes.map((one) => one.epoch))
  const worth = (one: T): number => {
    const isLeader = one.node === one.leader
    return isLeader && (one.judged || one.live) ? 4 : one.judged ? 3 : one.live ? 2 : isLeader ? 1 : 0
  }
  const [best] = nodes.filter((one) => one.epoch === newest).sort((a, b) => worth(b) - worth(a) || (a.index ?? 0) - (b.index ?? 0))
  if (!best) throw new Error(`run ${run} without a node`)
  return best
}

/**
 * So many of a run's nodes answer that one of them knew of a newer epoch, if there were one: those that chose its leader were a majority, too.
 * `answers`: names of those that answer, also that they have nothing of the run.
 */
export function isQuorum(answers: string[], nodes: string[]): boolean {
  return nodes.filter((name) => answers.includes(name)).length * 2 > nodes.length
}

/**
 * How a run ended: the word that counts among `answers`, of nodes on which it is over; `absent`: nodes that have nothing of it. Pure.
 * Errors: NODE_UNREACHABLE where none of them knows. The leader does not answer, and its members know only that nobody leads them any more; or the
 * leader has lost so many of the others that these may go on without it.
 */
export function endOf(run: string, answers: NodeRunDetail[], absent: string[] = []): NodeRunDetail {
  const best = stateOf({run, nodes: answers})
  const {node, leader, cause} = best
  const isLed = node === leader
  const heard = [...answers.map((one) => one.node), ...absent]
  if (best.judged || best.slurm || (isLed && (!best.replaceable || isQuorum(heard, best.nodes)))) return best
  const why = cause?.message ?? 'it is over'
  const silent = best.nodes.filter((name) => !heard.includes(name))
  const message = isLed
    ? `${leader}, which led run ${run}, has ended its part of it (${why}); ${silent.join(', ')} do not answer, so whether the run goes on there is not known`
    : `${leader}, which led run ${run}, does not answer any more, so how the run ended is not known; nothing of it goes on (${node}: ${why})`
  throw new CliError('NODE_UNREACHABLE', message, {hint: `flexrack runs show ${run}`, details: {node: isLed ? silent[0] : leader, run}})
}
