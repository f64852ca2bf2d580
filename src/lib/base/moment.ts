import {CliError} from './error.ts'
import {UNIT_SECONDS} from './unit-seconds.ts'

/**
 * The moment that `90m`, `12h` or `7d` from now, a date (its begin, in UTC) or a time of ISO 8601 means, in milliseconds
 * since 1970; NaN for other words. Pure.
 */
export function momentOf(text: string, now: number): number {
  const [, count, unit = ''] = /^([1-9]\d{0,6})(m|h|d)$/.exec(text.trim()) ?? []
  if (count !== undefined) return now + Number(count) * (UNIT_SECONDS[unit] ?? Number.NaN) * 1000
  return /^\d{4}-\d\d-\d\d/.test(text.trim()) ? Date.parse(text.trim()) : Number.NaN
}

/** The same where it has to be to come. `hint`: what to write instead. Errors: USAGE. */
export function momentToCome(text: string, hint: string, now: number): number {
  const moment = momentOf(text, now)
  if (moment > now) return moment
  throw new CliError('USAGE', `"${text}" is no time in the future: minutes, hours or days from now, or a date`, {hint})
}

/** Whether a time of ISO 8601 is over; no time never is. */
export function isOver(until: string | undefined, now = Date.now()): boolean {
  return until !== undefined && Date.parse(until) <= now
}
