import {isIP} from 'node:net'
import type {Context} from '../base/index.ts'
import {TRACKER, type Peer} from '../downloads/index.ts'
import type {DownloadWay, ShareOpen} from '../protocol/index.ts'
import type {Host} from './types.ts'

export interface Sharing {
  way: DownloadWay
  /** When no other node needs what this one has. */
  close(): Promise<void>
}

/**
 * A proxy on the node that gets from other nodes what they have downloaded, and gives them what it has. Undefined where
 * the node cannot: then it downloads by itself, and why is told.
 */
export async function openSharing(
  host: Host,
  peer: Peer,
  way: DownloadWay,
  context: Context,
): Promise<Sharing | undefined> {
  const stop = new AbortController()
  const opened = Promise.withResolvers<ShareOpen>()
  const input = {download: way, ...(host.address !== undefined && {address: host.address})}
  const serving = host
    .call('environment.share', input, {signal: stop.signal, onEvent: (event) => opened.resolve(event)})
    .then(
      () => {},
      (error: unknown) => opened.reject(error),
    )
    .finally(() => TRACKER.lose(peer))
  try {
    const {proxy, secret, address, port} = await opened.promise
    if (address !== undefined && port !== undefined && isIP(address) !== 0) peer.at = {address, port, secret}
    return {
      way: {...way, proxy, mirrored: true},
      async close() {
        await TRACKER.leave(peer)
        stop.abort()
        await serving
      },
    }
  } catch (error) {
    TRACKER.lose(peer)
    if (context.signal.aborted) throw error
    context.reporter.warn(`${host.node}: it downloads by itself what other nodes may have: ${(error as Error).message}`)
    return undefined
  }
}
