import {logLine} from './log.ts'

/** An answer of the head other than 2xx. `code` is one of flexrack's error codes where it has one. */
export class Failure extends Error {
  readonly status: number
  readonly code: string
  readonly more: Record<string, unknown>

  constructor(status: number, code: string, message: string, more: Record<string, unknown> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.more = more
  }
}

/** What a request is answered for an error. `url`: the request's. What is no Failure is a bug, or the machine's. */
export function answerOf(
  error: Error,
  url: string,
): {status: number; headers: Record<string, string | number>; body: unknown; message: string} {
  const path = url.split('?', 1)[0] ?? '/'
  const failure = error instanceof Failure ? error : unexpected(error, path)
  const {status, more} = failure
  const headers = {
    ...(status === 401 && {'www-authenticate': 'Bearer'}),
    ...((status === 413 || status === 408) && {connection: 'close'}),
    ...(typeof more.retry_after === 'number' && {'retry-after': more.retry_after}),
  }
  return {status, headers, body: failureBody(path, failure), message: failure.message}
}

function unexpected(error: Error & {code?: string; statusCode?: number}, path: string): Failure {
  if (['ENOSPC', 'EDQUOT'].includes(error.code ?? ''))
    return new Failure(507, 'HEAD_FAILED', "the head's disk is full: nothing was changed", {retry_after: 30})
  const status = error.statusCode ?? 500
  if (status >= 500) logLine(`${path}: ${error.message}`)
  return new Failure(status, status >= 500 ? 'BUG' : 'USAGE', error.message)
}

/**
 * The body in the shape that callers of this path understand: MLflow's, OpenAI's, the Open Inference Protocol's, or
 * ours.
 */
export function failureBody(path: string, failure: Failure): unknown {
  if (path.startsWith('/flexrack/')) return {error: {code: failure.code, message: failure.message, ...failure.more}}
  if (/^\/endpoints\/[^/]+\/v1\//.test(path)) {
    const type = failure.status === 429 ? 'requests' : failure.status < 500 ? 'invalid_request_error' : 'server_error'
    return {error: {message: failure.message, type, param: null, code: OPENAI_CODES[failure.status] ?? failure.code}}
  }
  if (/^\/endpoints\/[^/]+\/(invocations|ping|version)$/.test(path)) {
    return {error_code: MLFLOW_CODES[failure.status] ?? 'INTERNAL_ERROR', message: failure.message}
  }
  if (path.startsWith('/endpoints/')) return {error: failure.message, code: failure.code}
  return {error_code: MLFLOW_CODES[failure.status] ?? 'INTERNAL_ERROR', message: failure.message}
}

/** What clients of OpenAI tell apart by `code`. */
const OPENAI_CODES: Record<number, string> = {401: 'invalid_api_key', 404: 'not_found', 429: 'rate_limit_exceeded'}

const MLFLOW_CODES: Record<number, string> = {
  400: 'INVALID_PARAMETER_VALUE',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'RESOURCE_DOES_NOT_EXIST',
  408: 'TEMPORARILY_UNAVAILABLE',
  413: 'INVALID_PARAMETER_VALUE',
  429: 'REQUEST_LIMIT_EXCEEDED',
  502: 'TEMPORARILY_UNAVAILABLE',
  503: 'TEMPORARILY_UNAVAILABLE',
  504: 'TEMPORARILY_UNAVAILABLE',
  507: 'RESOURCE_EXHAUSTED',
}

/** Of a token that opens nothing: which of the three it is, is nobody's business. */
export function tokenRefused(): Failure {
  return new Failure(401, 'REFUSED', 'the token is wrong, revoked or expired')
}
