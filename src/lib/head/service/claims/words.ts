import type {Turn} from '../../../fairness/index.ts'
import type {HeadClaim} from '../../../protocol/index.ts'
import type {Excess, QueuedRun} from '../../types.ts'

/** One clause, for who waits. `room`: runs that are told to end for it. Pure. */
export function whyOf(turn: Turn | undefined, room: readonly string[] = []): string {
  if (!turn) return 'the head does not know it'
  const {holders, before, starts} = turn
  if (starts) return 'it may start'
  if (room.length > 0) return `${listed(room)} ${room.length === 1 ? 'makes' : 'make'} room for it`
  return [
    ...(holders.length > 0 ? [`${listed(holders)} ${holders.length === 1 ? 'has' : 'have'} what it wants`] : []),
    ...(before.length > 0 ? [`${listed(before)} ${before.length === 1 ? 'is' : 'are'} before it in line`] : []),
  ].join('; ')
}

/** Every sum; empty where there is none. Pure. */
export function overText(over: readonly Excess[]): string {
  return over.map((one) => one.text).join('; ')
}

export function queuedRun(turn: Turn, {user, project, gpus, priority, since}: HeadClaim): QueuedRun {
  const by = turn.by === null ? null : turn.by * 1000
  return {run: turn.run, user, project, gpus, priority, since, position: turn.position, by, why: whyOf(turn)}
}

function listed(runs: readonly string[]): string {
  return runs.length <= 3 ? runs.join(', ') : `${runs.slice(0, 3).join(', ')} and ${runs.length - 3} more`
}
