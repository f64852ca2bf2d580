import {stripVTControlCharacters} from 'node:util'
import {CliError, isCliError, nearestName} from '../../lib/base/index.ts'

/** What oclif puts on its errors about the command line, as far as it is used here. */
interface ParseError extends Error {
  flags?: string[]
  args?: {name: string; description?: string}[]
  parse?: {input?: {flags?: Record<string, {char?: string; hidden?: boolean}>}}
  oclif?: {exit?: number}
}

/**
 * oclif's errors about the command line as USAGE, with the nearest flag where one was mistyped; undefined for others.
 * `id` is the command's, as oclif has it: `rack:add`.
 */
export function usageError(error: unknown, id?: string): CliError | undefined {
  if (!(error instanceof Error) || isCliError(error)) return undefined
  const {parse, flags, args, oclif} = error as ParseError
  if (!parse && oclif?.exit !== 2 && oclif?.exit !== 127) return undefined
  const help = `flexrack ${id === undefined ? '' : `${id.replaceAll(':', ' ')} `}--help`
  const known = parse?.input?.flags
  if (known && error.constructor.name === 'NonExistentFlagsError') return flagError(flags ?? [], known, help, error)
  if (error.constructor.name === 'UnexpectedArgsError') {
    return new CliError(
      'USAGE',
      `${id?.replaceAll(':', ' ') ?? 'the command'} takes no argument ${(args as unknown as string[] | undefined)?.join(' ') ?? ''}`.trimEnd(),
      {hint: help, cause: error},
    )
  }
  const missing = error.constructor.name === 'RequiredArgsError' ? args?.map(argumentText).join(', ') : undefined
  if (oclif?.exit === 127)
    return new CliError('USAGE', 'there is no such command', {hint: 'flexrack --help', cause: error})
  return new CliError('USAGE', missing === undefined ? tidy(error.message) : `missing ${missing}`, {
    hint: help,
    cause: error,
  })
}

function argumentText({name, description}: {name: string; description?: string}): string {
  return `${name.toUpperCase()}${description === undefined ? '' : ` (${description})`}`
}

function flagError(
  flags: string[],
  known: Record<string, {char?: string; hidden?: boolean}>,
  help: string,
  cause: Error,
): CliError {
  const names = Object.entries(known)
    .filter(([, flag]) => !flag.hidden)
    .map(([name]) => `--${name}`)
  const close = flags.map((flag) => (flag.startsWith('--') ? nearestName(flag, names) : undefined))
  const guess = close.find((name) => name !== undefined)
  const list = flags.join(', ')
  const wrong = flags[close.indexOf(guess)]
  const what = flags.length === 1 ? `there is no flag ${list}` : `there are no flags ${list}`
  return new CliError('USAGE', guess === undefined ? what : `${what}; did you mean ${guess}?`, {
    hint: guess ?? help,
    details: guess === undefined ? {} : {flag: wrong, nearest: guess},
    cause,
  })
}

/** oclif's texts without their headings and without the pointer to --help, which is our hint. */
function tidy(message: string): string {
  return stripVTControlCharacters(message)
    .replace(/\s*See more help with --help\s*$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/^Missing required flag (\S+)$/, 'missing --$1')
    .replace(/^(--[\w-]+)=.* cannot also be provided when using (--[\w-]+)$/, '$1 cannot be given together with $2')
    .replace(/^Expected (--[\w-]+)=(.*) to be one of: (.+)$/, '$1 must be one of $3, not $2')
    .replace(/^Parsing (--\S+)\s+/, '$1: ')
    .replace(/^(--\S+): Expected an? (.+) but received: (.*)$/, '$1 must be an $2, not $3')
    .replace(/[ \t]{2,}/g, '  ')
    .trim()
}
