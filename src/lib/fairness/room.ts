import type {Running} from './types.ts'
import {abroad} from './turns.ts'
import {countedOf} from './used.ts'

/** A run that has something, as far as it may make room. Times in seconds since 1970. */
export interface Holder extends Running {
  user: string
  priority: number
  project?: string
  rack?: boolean
  gpus: number
  preemptible: boolean
  from: number
  /** When its newest checkpoint was written; null: there is none, or nobody has told of it. */
  saved: number | null
}

export interface Preemptor {
  user: string
  priority: number
  project?: string
  /** Its priority counts among the runs of all projects. */
  rack?: boolean
}

/** Who has just got something keeps it so long from those of the same priority: else runs would only save and load. */
export const SLICE_SECONDS = 600

/**
 * Whether a run makes room for one that waits: that one has a higher priority; or the same, and its user had a whole GPU
 * hour less of late, as the line counts it. Then it comes before the one that made room, which so is not let in again
 * at once. Between projects a priority above 0 is worth no more than 0, unless it is the rack's: whoever maintains one
 * project ends nothing of another one. Pure.
 */
export function yieldsTo(
  holder: Holder,
  preemptor: Preemptor,
  {now, used}: {now: number; used: Readonly<Record<string, number>>},
): boolean {
  if (!holder.preemptible) return false
  if (abroad(holder) !== abroad(preemptor)) return abroad(holder) < abroad(preemptor)
  if (holder.project === preemptor.project && holder.priority !== preemptor.priority)
    return holder.priority < preemptor.priority
  const hadLess = countedOf(used, preemptor.user) < countedOf(used, holder.user)
  return holder.user !== preemptor.user && now - holder.from >= SLICE_SECONDS && hadLess
}

/** GPU seconds that are lost with it (node seconds where it has no GPUs): what it did since its newest checkpoint. Pure. */
export function lostWith({gpus, parts, from, saved}: Holder, now: number): number {
  return (gpus || parts.length) * Math.max(0, now - Math.max(from, saved ?? from))
}

/**
 * Those that make room for one that waits, in the order in which they would: lower priorities first, as they count for that
 * one's project, then those that lose less; the same for everybody. Pure.
 */
export function roomFor(
  preemptor: Preemptor,
  holders: readonly Holder[],
  facts: {now: number; used: Readonly<Record<string, number>>},
): {run: string; user: string; priority: number; lost: number}[] {
  const worth = (one: Holder): number => (one.project === preemptor.project ? one.priority : abroad(one))
  return holders
    .filter((one) => yieldsTo(one, preemptor, facts))
    .map((one) => ({one, lost: lostWith(one, facts.now)}))
    .toSorted((a, b) => worth(a.one) - worth(b.one) || a.lost - b.lost || (a.one.run < b.one.run ? -1 : 1))
    .map(({one: {run, user, priority}, lost}) => ({run, user, priority, lost}))
}
