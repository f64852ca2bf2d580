import {isIPv6} from 'node:net'

const MAPPED = '::ffff:'

/**
 * By what pending connections are counted: an IPv4 address; of IPv6 the /64, as whoever has one address of such a
 * network has them all (RFC 6177). `address` as a socket gives it: compressed, IPv4 within IPv6 as ::ffff:10.0.0.1.
 */
export function originOf(address: string): string {
  const plain = address.split('%', 1)[0] ?? ''
  if (!isIPv6(plain)) return plain
  if (plain.toLowerCase().startsWith(MAPPED)) return plain.slice(MAPPED.length)
  const [before = '', after] = plain.split('::')
  const [head, tail] = [before, after ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const between = after === undefined ? [] : Array.from({length: Math.max(0, 8 - head.length - tail.length)}, () => '0')
  return [...head, ...between, ...tail]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
