import {checkServerIdentity, type PeerCertificate} from 'node:tls'

/**
 * What a model server's front is called in its certificate where it shares its address with a head: a certificate for
 * the address itself would be taken for the head's.
 */
export function frontName(address: string): string {
  return `front-${address.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}.flexrack`
}

/** Whether a certificate is that of the front at this address, by either name. Gives what is wrong, or nothing. */
export function checkFront(host: string, certificate: PeerCertificate): Error | undefined {
  const wrong = checkServerIdentity(host, certificate)
  return wrong && checkServerIdentity(frontName(host), certificate) && wrong
}
