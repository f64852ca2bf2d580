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
  for (const name in headers)
    if (!STAYS.has(name) && (sends || !OF_BODIES.has(name)) && !besides.includes(name))
      left[name] = headers[name] as string
  return left
}

/**
 * Those of an answer on its way back: how long the other keeps a connection to us says nothing of ours to the client.
 */
export function backwardHeaders<T extends Record<string, unknown>>(headers: T): T {
  const {connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...left} = headers
  return left as unknown as T
}
