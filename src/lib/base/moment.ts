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
