/** Codes of gRPC (https://grpc.github.io/grpc/core/md_doc_statuscodes.html). */
export const CODES = {
  ok: 0,
  cancelled: 1,
  invalid: 3,
  deadline: 4,
  missing: 5,
  denied: 7,
  exhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const

const OF_HTTP: Record<number, number> = {
  400: CODES.invalid,
  401: CODES.unauthenticated,
  403: CODES.denied,
  404: CODES.missing,
  408: CODES.deadline,
  413: CODES.exhausted,
  415: CODES.invalid,
  422: CODES.invalid,
  429: CODES.exhausted,
  501: CODES.unimplemented,
  502: CODES.unavailable,
  503: CODES.unavailable,
  504: CODES.deadline,
  507: CODES.exhausted,
}

/** Why a call is answered with no message. */
export class Status extends Error {
  readonly code: number
  /** Seconds after which to try again. */
  readonly again: number | undefined

  constructor(code: number, message: string, again?: number) {
    super(message)
    this.code = code
    this.again = again
  }

  static ofHttp(status: number, message: string, again?: number): Status {
    return new Status(OF_HTTP[status] ?? (status < 500 ? CODES.invalid : CODES.internal), message, again)
  }
}

/** As trailers say it. Percent-encoded: a message is any text, a header is not. */
export function trailersOf({code, message, again}: Status): Record<string, string> {
  const encoded = [...Buffer.from(message.slice(0, 2000))]
    .map((byte) => (byte >= 0x20 && byte <= 0x7e && byte !== 0x25 ? String.fromCharCode(byte) : percent(byte)))
    .join('')
  return {
    'grpc-status': String(code),
    'grpc-message': encoded,
    ...(again !== undefined && {'grpc-retry-pushback-ms': String(again * 1000), 'retry-after': String(again)}),
  }
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

const UNITS: Record<string, number> = {H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001}

/** Milliseconds of the header grpc-timeout; undefined where there is none. Throws Status. */
export function timeoutOf(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined
  const [, count, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(String(header)) ?? []
  if (count === undefined) throw new Status(CODES.invalid, 'grpc-timeout is none')
  return Math.min(Number(count) * UNITS[unit]!, 2 ** 31 - 1)
}
