import {CliError, UNIT_SECONDS} from '../base/index.ts'

/** The last snapshot at a time (seconds since 1970), or the one whose id begins so; neither: the last one. */
export interface Moment {
  at?: number
  snapshot?: string
}

/**
 * What --at says: an id (8 digits or more), a time ago (30m, 2h, 3d), a time of today or yesterday (14:30), a day (its
 * end), or a day and a time; of this machine's clock where it names no zone. Errors: USAGE.
 */
export function readMoment(text: string | undefined, now = new Date()): Moment {
  if (text === undefined) return {}
  const word = text.trim()
  if (/^[0-9a-f]{8,64}$/.test(word)) return {snapshot: word}
  const ago = /^(\d{1,6}(?:\.\d+)?)(s|m|h|d)$/.exec(word)
  if (ago) return {at: now.getTime() / 1000 - Number(ago[1]) * (UNIT_SECONDS[ago[2] as string] ?? 1)}
  const clock = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(word)
  if (clock && Number(clock[1]) < 24 && Number(clock[2]) < 60 && Number(clock[3] ?? 0) < 60) {
    const then = new Date(now)
    then.setHours(Number(clock[1]), Number(clock[2]), Number(clock[3] ?? 59), 999)
    if (then.getTime() - 59_999 > now.getTime()) then.setDate(then.getDate() - 1)
    return {at: then.getTime() / 1000}
  }
  if (/^\d{4}-\d\d-\d\d$/.test(word)) return checked(new Date(`${word}T23:59:59.999`), text)
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/.test(word)) {
    const isWhole = /\d:\d\d:\d\d/.test(word) // without seconds: all of that minute
    return checked(new Date(new Date(word.replace(' ', 'T')).getTime() + (isWhole ? 999 : 59_999)), text)
  }
  throw strange(text)
}

function checked(date: Date, text: string): Moment {
  if (Number.isNaN(date.getTime())) throw strange(text)
  return {at: date.getTime() / 1000}
}

const strange = (text: string): CliError =>
  new CliError('USAGE', `"${text}" is neither a time nor a snapshot`, {
    hint: 'such as --at 2h, --at 14:30, --at "2026-03-01 14:30", or --at with an id of `flexrack workspace history`',
  })
