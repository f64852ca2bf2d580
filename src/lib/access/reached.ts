import {connect as connectPlain, isIP} from 'node:net'
import {connect as connectTls} from 'node:tls'

const PATIENCE_MS = 5000

/**
 * Whether this machine reaches a URL, and what answers there shows a certificate of `ca` (undefined: one that the
 * system trusts). Nothing is sent.
 */
export async function isReached(url: string, ca: string | undefined): Promise<boolean> {
  const {protocol, hostname, port} = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isTls = protocol === 'https:'
  const place = {host, port: Number(port || (isTls ? 443 : 80))}
  return new Promise((resolve) => {
    // A name for SNI must be none that is an address.
    const socket = isTls
      ? connectTls({...place, ...(ca !== undefined && {ca}), ...(!isIP(host) && {servername: host})})
      : connectPlain(place)
    const end = (reached: boolean): void => {
      socket.destroy()
      resolve(reached)
    }
    socket.setTimeout(PATIENCE_MS, () => end(false))
    socket.once(isTls ? 'secureConnect' : 'connect', () => end(true))
    socket.once('error', () => end(false))
  })
}
