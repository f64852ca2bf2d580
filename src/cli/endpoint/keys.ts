import {CliError, momentOf} from '../../lib/base/index.ts'
import type {EndpointKey, MadeKey} from '../../lib/endpoint/index.ts'
import {ago, fields, minute, table} from '../terminal/render.ts'

/** A key as it is shown: this once. */
export interface ShownKey extends Omit<MadeKey, 'key'> {
  key: string
}

/** Seconds from now to `30d`, `12h`, `2027-01-31` (its begin, in UTC) or a time of ISO 8601. Errors: USAGE. */
export function secondsUntil(text: string, now = Date.now()): number {
  const seconds = Math.floor((momentOf(text, now) - now) / 1000)
  if (seconds > 0 && seconds <= 366 * 86_400) return seconds
  throw new CliError('USAGE', `"${text}" is no time at which a key may end: a time to come, at most 366 days off`, {
    hint: '--until 90d, --until 2027-01-31',
  })
}

/** A whole number or one with a fraction, over 0. Errors: USAGE. */
export function limitOf(text: string | undefined, flag: string, whole: boolean, most = 1e6): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= most && (!whole || Number.isInteger(value))) return value
  throw new CliError('USAGE', `${flag} must be a ${whole ? 'whole number' : 'number'} over 0, not "${text}"`)
}

export function keyText({client, endpoint, key, url, standbyUrl, expiresAt}: ShownKey): string {
  return [
    fields([
      ['key', key],
      ['client', client],
      ['endpoint', endpoint],
      ['url', url],
      ['at the standby', standbyUrl],
      ['ends', minute(expiresAt)],
    ]),
    '',
    'It is shown this once. Clients send it as: Authorization: Bearer KEY',
  ].join('\n')
}

export function keysText(keys: EndpointKey[]): string {
  if (keys.length === 0) return 'No client has a key. Make one: flexrack endpoint key add NAME CLIENT'
  const rows = keys.map((one) => ({
    client: one.client,
    'requests/s': one.requestsPerSecond === null ? 'any' : String(one.requestsPerSecond),
    'at once': one.concurrency === null ? 'any' : String(one.concurrency),
    'tokens/min': one.tokensPerMinute === null ? 'any' : String(one.tokensPerMinute),
    'in flight': String(one.inFlight),
    requests: String(one.requests),
    tokens: String(one.tokens),
    refused: String(one.refused),
    made: ago(one.createdAt),
    ends: minute(one.expiresAt),
  }))
  const numbers = ['requests/s', 'at once', 'tokens/min', 'in flight', 'requests', 'tokens', 'refused'].map((key) => ({
    key: key as keyof (typeof rows)[number],
    align: 'right' as const,
  }))
  return table(rows, ['client', ...numbers, 'made', {key: 'ends', title: 'ENDS (UTC)'}])
}

export function revokedText(revoked: {endpoint: string; client: string}[]): string {
  return revoked.map(({client}) => `Revoked the key of ${client}.`).join('\n')
}
