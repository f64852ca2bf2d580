import {CliError, UNIT_SECONDS} from '../base/index.ts'

const UNITS: Record<string, number> = {...UNIT_SECONDS, w: 7 * 86_400}

/** The moment that `30d`, `12h`, `2w`, `90m` ago, or a date, means. Seconds since 1970; 0 for `all`. Errors: USAGE. */
export function sinceOf(text: string, now: number): number {
  if (text === 'all') return 0
  const found = /^(\d+)([mhdw])$/.exec(text)
  if (found) return now - Number(found[1]) * (UNITS[found[2] as string] as number)
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(date))
    throw new CliError('USAGE', `"${text}" is neither a time like 30d, 12h or 2w, nor a date like 2026-11-01`, {
      hint: '--since 30d',
    })
  return date / 1000
}
