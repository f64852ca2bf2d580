import {CliError, UNIT_SECONDS} from '../../lib/base/index.ts'

const MOST_DAYS = 90

/** Seconds of `30m`, `8h` or `7d`. Errors: USAGE. */
export function tokenSeconds(text: string): number {
  const [, count, unit = ''] = /^([1-9]\d{0,6})(m|h|d)$/.exec(text.trim()) ?? []
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0)
  if (seconds > 0 && seconds <= MOST_DAYS * 86_400) return seconds
  throw new CliError(
    'USAGE',
    `"${text}" is no time that a token may live: minutes, hours or days, at most ${MOST_DAYS}d`,
    {hint: '--for 7d'},
  )
}
