/**
 * Headers that are between two neighbours (RFC 9110, 7.6.1), or that the client library of the second way writes
 * itself.
 */
const BETWEEN = [
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
]
/** Our token is for us only. */
const SECRETS = ['authorization', 'cookie']

/** The headers of a request as they go on to the one behind the head. `sends`: whether its body goes on, too. */
export function onwardHeaders(headers: Record<string, unknown>, sends: boolean): Record<string, string> {
  const left = {...headers} as Record<string, string>
  for (const name of [...BETWEEN, ...SECRETS, ...(sends ? [] : ['content-length', 'content-type', 'content-encoding'])])
    delete left[name]
  return left
}

/**
 * Those of an answer on its way back: how long the other keeps a connection to us says nothing of ours to the client.
 */
export function backwardHeaders<T extends Record<string, unknown>>(headers: T): T {
  const {connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...left} = headers
  return left as unknown as T
}
