/**
 * Headers that are between two neighbours (RFC 9110, 7.6.1), or that the client library of the second way writes
 * itself.
 */
const STAYS = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'http2-settings',
  // Our token is for us only.
  'authorization',
  'cookie',
])
const OF_BODIES = new Set(['content-length', 'content-type', 'content-encoding'])

/**
 * The headers of a request as they go on to the one behind the head, but for `besides`. `sends`: whether its body goes
 * on, too.
 */
export function onwardHeaders(
  headers: Record<string, unknown>,
  sends: boolean,
  ...besides: string[]
): Record<string, string> {
  const left: Record<string, string> = {}
  const named = namedBetween(headers.connection)
  for (const name in headers)
    if (!STAYS.has(name) && (sends || !OF_BODIES.has(name)) && !besides.includes(name) && !named?.includes(name))
      left[name] = headers[name] as string
  return left
}

/** What a neighbour has named as between us two; undefined of most, who say at most how long the connection lasts. */
function namedBetween(connection: unknown): string[] | undefined {
  if (typeof connection !== 'string' || connection === 'keep-alive' || connection === 'close') return undefined
  return connection.split(',').map((name) => name.trim().toLowerCase())
}

/**
 * Those of an answer on its way back: how long the other keeps a connection to us says nothing of ours to the client.
 */
export function backwardHeaders<T extends Record<string, unknown>>(headers: T): T {
  const {connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...left} = headers
  for (const name of namedBetween(connection) ?? []) delete left[name]
  return left as unknown as T
}
