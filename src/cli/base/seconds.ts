import {CliError} from '../../lib/base/index.ts'

/** The number of seconds that a flag says; undefined where it says none. Errors: USAGE. */
export function secondsOf(text: string | undefined, {least, flag}: {least: number; flag: string}): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds >= least && seconds <= 3600)) throw new CliError('USAGE', `"${text}" is not a number of seconds from ${least} to 3600`, {hint: `${flag} ${Math.max(2, least)}`})
  return seconds
}
