import {CliError, UNIT_SECONDS} from '../../lib/base/index.ts'

/** The number of seconds that a flag says; undefined where it says none. Errors: USAGE. */
export function secondsOf(text: string | undefined, {least, flag}: {least: number; flag: string}): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds >= least && seconds <= 3600))
    throw new CliError('USAGE', `"${text}" is not a number of seconds from ${least} to 3600`, {
      hint: `${flag} ${Math.max(2, least)}`,
    })
  return seconds
}

/** `2h`, `90m`, `10s`, `1d`, or `never` (0), in seconds. Errors: USAGE. */
export function durationOf(text: string, flag: string): number {
  if (text === 'never') return 0
  const found = /^(\d{1,6}(?:\.\d+)?)(s|m|h|d)$/.exec(text)
  const seconds = Number(found?.[1]) * (UNIT_SECONDS[found?.[2] ?? ''] ?? Number.NaN)
  if (!(seconds >= 1))
    throw new CliError('USAGE', `"${text}" is not a time such as 90m, 2h or 1d`, {hint: `${flag} 2h`})
  return seconds
}
