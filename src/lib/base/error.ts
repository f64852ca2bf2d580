import {ERROR_CODES, type ErrorCode} from './error-codes.ts'

export interface CliErrorOptions {
  /** A command to paste, or what to change: the way out. */
  hint?: string
  /** More lines for people and fields for --json; plain data only, never a secret. */
  details?: Record<string, unknown>
  cause?: unknown
  /** Overrides the exit status of the code, e.g. to pass on the status of a remote command. */
  exitCode?: number
}

/** The one error class: anything else that reaches the top is a bug. `message` is one sentence that names the thing. */
export class CliError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: Record<string, unknown>
  readonly exitCode: number
  /** oclif takes the exit status for people from here (and `exitCode` for --json). */
  readonly oclif: {exit: number}

  constructor(code: ErrorCode, message: string, options: CliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : {cause: options.cause})
    this.name = 'CliError'
    this.code = code
    this.hint = options.hint
    this.details = options.details ?? {}
    this.exitCode = options.exitCode ?? ERROR_CODES[code].exit
    this.oclif = {exit: this.exitCode}
  }
}

/** True for a CliError, optionally of one of the given codes. */
export function isCliError(error: unknown, ...codes: ErrorCode[]): error is CliError {
  return error instanceof CliError && (codes.length === 0 || codes.includes(error.code))
}
