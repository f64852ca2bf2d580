/** After a week what somebody had counts half. Seconds. */
const HALF_LIFE = 7 * 86_400

/** GPUs that somebody had, from when to when. Seconds since 1970. */
export interface Use {
  gpus: number
  from: number
  to: number
}

/** GPU hours of a use as they count later: each second of it the less the longer it is over. Pure. */
export function decayed({gpus, from, to}: Use, now: number): number {
  const weight = (at: number): number => 2 ** ((Math.min(at, now) - now) / HALF_LIFE)
  return (gpus * Math.max(0, weight(to) - weight(from)) * HALF_LIFE) / Math.LN2 / 3600
}

/** What somebody had of late, as the line counts it: in whole GPU hours. Pure. */
export function countedOf(used: Readonly<Record<string, number>>, user: string): number {
  return Math.floor(Object.hasOwn(used, user) ? used[user]! : 0)
}

/** What a sum of them counts after some time more. Pure. */
export function faded(sum: number, seconds: number): number {
  return sum * 2 ** (-Math.max(0, seconds) / HALF_LIFE)
}
