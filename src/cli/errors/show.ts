import {CliError, isCliError, userPaths} from '../../lib/base/index.ts'
import {detailLines} from './details.ts'
import {completeHint} from './hint.ts'
import {isPipeClosed} from '../terminal/pipe.ts'
import {paintError, printError} from '../terminal/print.ts'
import {jsonText} from '../terminal/printable.ts'
import {usageError} from './usage.ts'

export interface ErrorView {
  argv: readonly string[]
  env: NodeJS.ProcessEnv
}

/**
 * The one place that shows errors. For people: the message, its details and the way out, on stderr; under --json one
 * small object on stdout. Anything that is not a CliError is a bug and goes to a log file. Returns the exit status.
 */
export async function showError(error: unknown, {argv, env}: ErrorView): Promise<number> {
  if (isPipeClosed()) return 0
  const exit = plainExit(error)
  if (exit !== undefined) return exit
  const shown = withHint(await toCliError(error, {argv, env}), argv)
  if (isJsonWanted(argv, env)) process.stdout.write(`${jsonText({error: errorJson(shown)}, 2)}\n`)
  else printError(errorText(shown))
  if (isDebug(argv, env)) printError(paintError.dim(stackText(error)))
  return shown.exitCode
}

/** The same error with a hint to paste: only here is known what was typed. */
function withHint(error: CliError, argv: readonly string[]): CliError {
  const {code, message, hint, details} = error
  const complete =
    hint === undefined ? undefined : completeHint(hint, argv, details.nearest === hint ? details.flag : undefined)
  return complete === hint ? error : new CliError(code, message, {hint: complete, details, cause: error.cause})
}

/** What --json answers instead of a result. Only these four fields, whatever the error carries. */
export function errorJson(error: CliError): {
  code: string
  message: string
  hint?: string
  details?: Record<string, unknown>
} {
  const {code, message, hint, details} = error
  return {code, message, ...(hint !== undefined && {hint}), ...(Object.keys(details).length > 0 && {details})}
}

/** What people see. */
export function errorText(error: CliError): string {
  if (error.code === 'INTERRUPTED') return paintError.yellow(error.message)
  const lines = [
    `${paintError.red('error:')} ${error.message}`,
    ...detailLines(error.details, error.message).map((line) => `  ${line}`),
  ]
  if (error.hint !== undefined) lines.push(`  ${paintError.cyan('try:')} ${error.hint.replaceAll('\n', '\n       ')}`)
  return lines.join('\n')
}

/** The same rule as oclif's: --json before any `--`, or FLEXRACK_CONTENT_TYPE=json. */
export function isJsonWanted(argv: readonly string[], env: NodeJS.ProcessEnv): boolean {
  return env.FLEXRACK_CONTENT_TYPE?.toLowerCase() === 'json' || hasFlag(argv, '--json')
}

function isDebug(argv: readonly string[], env: NodeJS.ProcessEnv): boolean {
  return Boolean(env.DEBUG) || hasFlag(argv, '--debug')
}

function hasFlag(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes(flag)
}

/** A command may end with a status and no message: oclif's this.exit(). */
function plainExit(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const {code, oclif} = error as {code?: unknown; oclif?: {exit?: number}}
  return code === 'EEXIT' ? (oclif?.exit ?? 0) : undefined
}

async function toCliError(error: unknown, view: ErrorView): Promise<CliError> {
  if (isCliError(error)) return error
  const usage = usageError(error)
  if (usage) return usage
  if (!(error instanceof Error)) return logBug(error, view)
  if (error.name === 'AbortError') return new CliError('INTERRUPTED', 'interrupted', {cause: error})
  const system = systemError(error)
  return system ?? logBug(error, view)
}

/** What the user's own machine refuses is not a bug of ours: no right to a file, no space, too many open files. */
function systemError(error: NodeJS.ErrnoException): CliError | undefined {
  const meanings: Record<string, string> = {
    EACCES: 'permission denied',
    EPERM: 'not permitted',
    EROFS: 'the file system is read-only',
    ENOSPC: 'no space left on the disk',
    EDQUOT: 'the disk quota is used up',
    EMFILE: 'too many open files (see ulimit -n)',
  }
  const meaning = meanings[error.code ?? '']
  if (meaning === undefined || error.syscall === undefined) return undefined
  return new CliError('LOCAL_FAILED', `${error.path ?? error.syscall}: ${meaning}`, {cause: error})
}

async function logBug(error: unknown, {argv, env}: ErrorView): Promise<CliError> {
  const {writeBugLog} = await import('./bug-log.ts')
  const log = await writeBugLog(stackText(error), argv, userPaths(env)).catch(() => undefined)
  const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
  return new CliError('BUG', `something in flexrack went wrong: ${reason}`, {
    hint: 'run it again with --debug',
    details: log === undefined ? {} : {log},
    cause: error,
  })
}

function stackText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? error.message
  const parts = error instanceof AggregateError ? error.errors.map((one) => `\nOne of: ${stackText(one)}`).join('') : ''
  return `${own}${parts}${error.cause === undefined ? '' : `\nCaused by: ${stackText(error.cause)}`}`
}
