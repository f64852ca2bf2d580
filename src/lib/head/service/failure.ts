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

/** The body in the shape that callers of this path understand: MLflow's, the inference protocol's, or ours. */
export function failureBody(path: string, failure: Failure): unknown {
  if (path.startsWith('/flexrack/')) return {error: {code: failure.code, message: failure.message, ...failure.more}}
  if (path.startsWith('/endpoints/')) return {error: failure.message, code: failure.code}
  return {error_code: MLFLOW_CODES[failure.status] ?? 'INTERNAL_ERROR', message: failure.message}
}

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
