import {NO_SERVER} from './model-server.ts'

/**
 * What an error on the way to a model server says: whether anybody was asked. Whether a target answers at all is
 * reach.ts.
 */

const NOT_CONNECTED = new Set([
  NO_SERVER,
  'ECONNREFUSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
])
const BROKEN = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])

/** Nobody was asked anything: not reached, or somebody else is there than the rack's authority knows. */
export function isNotConnected(code: string): boolean {
  return NOT_CONNECTED.has(code) || /^(ERR_TLS|ERR_SSL|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|CERT_)/.test(code)
}

/** The connection was there, and broke: the server may have had the request. */
export function isBroken(code: string): boolean {
  return BROKEN.has(code)
}

/** The code of the innermost error that has one. */
export function causeCode(error: unknown): string {
  let code = ''
  for (let at = error; at instanceof Error; at = at.cause) code = (at as NodeJS.ErrnoException).code ?? code
  return code
}
