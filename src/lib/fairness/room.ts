import type {Running} from './types.ts'

/** A run that has something, as far as it may make room. Times in seconds since 1970. */
export interface Holder extends Running {
  user: string
  priority: number
  gpus: number
  preemptible: boolean
  from: number
  /** When its newest checkpoint was written; null: there is none, or nobody has told of it. */
  saved: number | null
}

export interface Comer {
  user: string
  priority: number
}

/** Who has just got something keeps it so long from those of the same priority: else runs would only save and load. */
export const SLICE_SECONDS = 600

/**
 * Whether a run makes room for one that waits: that one has a higher priority; or the same, and its user had a whole GPU
 * hour less of late, as the line counts it. Then it comes before the one that made room, which so is not let in again
 * at once. Pure.
 */
export function yieldsTo(
  holder: Holder,
  comer: Comer,
  {now, used}: {now: number; used: Readonly<Record<string, number>>},
): boolean {
  if (!holder.preemptible || holder.priority > comer.priority) return false
  if (holder.priority < comer.priority) return true
  const share = (user: string): number => Math.floor(Object.hasOwn(used, user) ? used[user]! : 0)
  return holder.user !== comer.user && now - holder.from >= SLICE_SECONDS && share(comer.user) < share(holder.user)
}

/** GPU seconds that are lost with it (node seconds where it has no GPUs): what it did since its newest checkpoint. Pure. */
export function lostWith({gpus, parts, from, saved}: Holder, now: number): number {
  return Math.max(gpus, gpus === 0 ? parts.length : 0) * Math.max(0, now - Math.max(from, saved ?? from))
}

/** In the order in which they make room: lower priorities first, then those that lose less; the same for everybody. Pure. */
export function inOrderOfRoom(holders: readonly Holder[], now: number): Holder[] {
  return holders.toSorted(
    (a, b) => a.priority - b.priority || lostWith(a, now) - lostWith(b, now) || (a.run < b.run ? -1 : 1),
  )
}

/**
 * The fewest of those that make room, so that `fits` without them: they are tried in their order, and whoever was not
 * needed after all stays, the dearest first. None where it does not fit without all of them. Pure.
 */
export function needed<T>(ordered: readonly T[], fits: (without: readonly T[]) => boolean): T[] {
  if (fits([])) return []
  const count = ordered.findIndex((_one, at) => fits(ordered.slice(0, at + 1))) + 1
  if (count === 0) return []
  return ordered
    .slice(0, count)
    .toReversed()
    .reduce(
      (left, one) => {
        const without = left.filter((other) => other !== one)
        return fits(without) ? without : left
      },
      ordered.slice(0, count),
    )
}
