import {lookup, type LookupAddress} from 'node:dns'
import {once} from 'node:events'
import {request} from 'node:http'
import {connect, isIP, type LookupFunction, type Socket} from 'node:net'
import {setTimeout} from 'node:timers/promises'
import {isPrivate} from './named-hosts.ts'

const CONNECT_MS = 20_000
/**
 * Milliseconds before each further attempt: one lost packet or a resolver that is busy ends no environment of
 * gigabytes.
 */
const AGAIN_MS = [500, 2000]

/** An address behind a name is not one that the name may lead to. */
export class PrivateAddress extends Error {}

export interface Destination {
  host: string
  port: number
  /** Whether it may be in a network of this machine's own. */
  mayBePrivate: boolean
}

/** The proxy that this machine itself uses for a host, by its environment or pip's setting. */
export function proxyFor(
  {host}: Pick<Destination, 'host'>,
  protocol: 'http' | 'https',
  env: NodeJS.ProcessEnv,
  setting?: string,
): URL | undefined {
  const upper = `${protocol.toUpperCase()}_PROXY`
  const named = setting || env[`${protocol}_proxy`] || env[upper] || env.all_proxy || env.ALL_PROXY
  const without = (env.no_proxy ?? env.NO_PROXY ?? '')
    .split(',')
    .map((one) =>
      one
        .trim()
        .toLowerCase()
        .replace(/^\*?\./, ''),
    )
    .filter(Boolean)
  if (!named || without.some((one) => one === '*' || host === one || host.endsWith(`.${one}`))) return undefined
  const text = named.includes('://') ? named : `http://${named}`
  return URL.canParse(text) && new URL(text).protocol === 'http:' ? new URL(text) : undefined
}

export function proxyHeader(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {}
  return {
    'proxy-authorization': `Basic ${Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`).toString('base64')}`,
  }
}

/** Tries again where a network may yet answer; a private address, or a port that refuses, is an answer. */
export async function patiently<T>(attempt: () => Promise<T>, waits: readonly number[] = AGAIN_MS): Promise<T> {
  for (const wait of waits) {
    try {
      return await attempt()
    } catch (error) {
      if (
        error instanceof PrivateAddress ||
        ['ECONNREFUSED', 'ENOTFOUND'].includes((error as NodeJS.ErrnoException).code ?? '')
      )
        throw error
    }
    await setTimeout(wait)
  }
  return attempt()
}

/**
 * A connection from here. Which address a name has is asked once, and that one is looked at and used. Throws
 * PrivateAddress.
 */
export async function connectTo({host, port, mayBePrivate}: Destination): Promise<Socket> {
  if (isIP(host) && !mayBePrivate && isPrivate(host))
    throw new PrivateAddress(`${host} is an address of a private network`)
  const guarded: LookupFunction = (name, options, done) => {
    lookup(name, {...options, all: true}, (error, found: LookupAddress[]) => {
      const usable = error ? [] : found.filter(({address}) => mayBePrivate || !isPrivate(address))
      const refused =
        error ?? (usable.length === 0 ? new PrivateAddress(`${name} has an address of a private network`) : null)
      if (options.all) done(refused, usable)
      else done(refused, usable[0]?.address ?? '', usable[0]?.family)
    })
  }
  return settled(connect({host, port, lookup: guarded, noDelay: true}), 'connect')
}

/** The same through a proxy of this machine, which looks names up itself. */
export async function connectThrough(proxy: URL, {host, port}: Destination): Promise<Socket> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const asked = request({
    host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port || 80,
    method: 'CONNECT',
    path: authority,
    headers: {host: authority, ...proxyHeader(proxy)},
    timeout: CONNECT_MS,
  })
  asked.on('timeout', () => asked.destroy(new Error('the proxy does not answer')))
  asked.end()
  const [response, socket, head] = (await once(asked, 'connect')) as [{statusCode: number}, Socket, Buffer]
  if (head.length > 0) socket.unshift(head)
  if (response.statusCode === 200) return socket
  socket.destroy()
  throw new Error(`the proxy answers with status ${response.statusCode}`)
}

async function settled(socket: Socket, event: string): Promise<Socket> {
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('no answer')))
  try {
    await once(socket, event)
  } catch (error) {
    socket.destroy()
    throw error
  }
  socket.setTimeout(0)
  return socket
}
