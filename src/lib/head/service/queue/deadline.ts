import {DEADLINE_HEADER} from '../../types.ts'
import {Failure} from '../failure.ts'

/** More is as good as none. */
export const LONGEST_MS = 2 ** 31 - 1

/** When a request's caller gives it up, by performance.now(); undefined where it does not say. Errors: 400. */
export function deadlineOf(headers: Record<string, unknown>, now: number): number | undefined {
  const given = headers[DEADLINE_HEADER]
  if (given === undefined) return undefined
  const ms = typeof given === 'string' && /^\d{1,12}$/.test(given) ? Number(given) : Number.NaN
  if (Number.isNaN(ms)) throw new Failure(400, 'USAGE', `${DEADLINE_HEADER} must be a whole number of milliseconds`)
  // 0 is Envoy's word for none.
  return ms === 0 || ms > LONGEST_MS ? undefined : now + ms
}

/** What is left of it for the next one; at least 1, as 0 means that there is none. */
export function leftOf(deadline: number, now: number): string {
  return String(Math.max(1, Math.floor(deadline - now)))
}
