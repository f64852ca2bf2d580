import {CliError, ERROR_CODES, isCliError, type ErrorCode} from '../base/index.ts'

/** MLflow's error codes that mean something to a caller; others go by their status. */
const BY_MLFLOW_CODE: Record<string, ErrorCode> = {
  RESOURCE_DOES_NOT_EXIST: 'NOT_FOUND',
  NOT_FOUND: 'NOT_FOUND',
  RESOURCE_ALREADY_EXISTS: 'CONFLICT',
  PERMISSION_DENIED: 'REFUSED',
  UNAUTHENTICATED: 'REFUSED',
}
const BY_STATUS: Record<number, ErrorCode> = {401: 'REFUSED', 403: 'REFUSED', 404: 'NOT_FOUND', 409: 'CONFLICT'}

/**
 * The error for an answer other than 2xx: MLflow's shape, the head's shape, the inference protocol's shape, or plain
 * text.
 */
export function errorFromAnswer(status: number, text: string, peer: string): CliError {
  const {code, message, more} = readAnswer(text)
  const known = code && code in ERROR_CODES ? (code as ErrorCode) : undefined
  const chosen = known ?? (code ? BY_MLFLOW_CODE[code] : undefined) ?? BY_STATUS[status] ?? 'HEAD_FAILED'
  return new CliError(chosen, `${peer}: ${message || `answered with HTTP status ${status}`}`, {
    details: {...more, status, ...(code && {answer_code: code})},
    ...(chosen === 'QUOTA' && {hint: 'flexrack quota list'}),
  })
}

/** The error for a request that got no answer. */
export function errorFromTransport(error: unknown, peer: string, signal: AbortSignal | undefined): CliError {
  if (isCliError(error)) return error
  if (signal?.aborted) return new CliError('INTERRUPTED', 'interrupted', {cause: error})
  const code = transportCode(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return new CliError('TIMED_OUT', `${peer} did not answer in time`, {details: {transport: code}, cause: error})
  return new CliError('NODE_UNREACHABLE', `${peer} cannot be reached${code ? ` (${code})` : ''}`, {
    details: {transport: code},
    cause: error,
  })
}

/** True where trying a read again may help: no connection, or busy. */
export function isPassing(error: unknown): boolean {
  return (
    isCliError(error) &&
    (error.code === 'NODE_UNREACHABLE' || error.details.status === 502 || error.details.status === 503)
  )
}

function readAnswer(text: string): {code?: string; message: string; more: Record<string, unknown>} {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return {message: text.trim().split('\n')[0]?.slice(0, 300) ?? '', more: {}}
  }
  if (typeof value !== 'object' || value === null) return {message: '', more: {}}
  const answer = value as Record<string, unknown>
  if (typeof answer.error === 'string') return {message: answer.error, more: {}}
  if (typeof answer.error === 'object' && answer.error !== null) {
    const {code, message, ...more} = answer.error as Record<string, unknown>
    return {code: textOf(code), message: textOf(message) ?? '', more}
  }
  return {code: textOf(answer.error_code), message: textOf(answer.message) ?? '', more: {}}
}

function transportCode(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = (at as NodeJS.ErrnoException).code
    if (typeof code === 'string') return code
  }
  return ''
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
