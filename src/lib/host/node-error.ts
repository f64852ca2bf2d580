import {CliError, ERROR_CODES, type ErrorCode} from '../base/index.ts'

/**
 * An error of the node program (NodeError in errors.py) as a CliError; a code that this version does not know is
 * REMOTE_FAILED. The node is named before the message, whatever that says, and in `details.node`.
 */
export function toCliError(node: string, value: unknown): CliError {
  const error = (typeof value === 'object' && value !== null ? value : {}) as {
    code?: unknown
    message?: unknown
    hint?: unknown
    details?: unknown
  }
  const code: ErrorCode =
    typeof error.code === 'string' && Object.hasOwn(ERROR_CODES, error.code)
      ? (error.code as ErrorCode)
      : 'REMOTE_FAILED'
  const message = typeof error.message === 'string' ? error.message : 'failed without a message'
  return new CliError(code, `${node}: ${message}`, {
    details: {...(typeof error.details === 'object' ? error.details : {}), node},
    ...(typeof error.hint === 'string' ? {hint: error.hint} : {}),
  })
}
