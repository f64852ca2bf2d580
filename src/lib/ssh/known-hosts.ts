import {createHash, createHmac} from 'node:crypto'
import {CliError, textIfThere} from '../base/index.ts'
import {matchesPattern} from './pattern.ts'

/** One line of a known_hosts file. */
export interface KnownHost {
  file: string
  /** From 1. */
  line: number
  marker?: 'revoked' | 'cert-authority'
  /** The first field as it stands: names and patterns, or a hashed name. */
  names: string
  keyType: string
  key: Buffer
}

export type HostKeyVerdict =
  | {verdict: 'known'}
  | {verdict: 'unknown'; authority?: KnownHost}
  | {verdict: 'changed'; expected: KnownHost[]}
  | {verdict: 'revoked'; by: KnownHost}

/** The name a host has in known_hosts: `host`, or `[host]:port` where the port is not 22. */
export function knownHostsName(host: string, port: number): string {
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`
}

/** Files that are being read: the connections to many nodes, which begin at once, read them together. */
const reading = new Map<string, Promise<KnownHost[]>>()

/**
 * Every entry of the files that exist; lines that are no entries are passed over, as ssh does. Throws LOCAL_FAILED
 * where a file is there and cannot be read: taken for empty, it would let a changed or revoked key pass for an unknown
 * one.
 */
export async function readKnownHosts(files: string[]): Promise<KnownHost[]> {
  const found = await Promise.all(
    files.map((file) => {
      const entries = reading.get(file) ?? readFileEntries(file).finally(() => reading.delete(file))
      reading.set(file, entries)
      return entries
    }),
  )
  return found.flat()
}

async function readFileEntries(file: string): Promise<KnownHost[]> {
  const text = await textIfThere(file).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      'LOCAL_FAILED',
      `${file} cannot be read (${error.code ?? error.message}), so no host key can be verified`,
      {hint: `ls -l ${file}`, cause: error},
    )
  })
  return (text ?? '').split('\n').flatMap((line, index) => parseLine(line, file, index + 1) ?? [])
}

/**
 * Entries for a host. Where the port is not 22, entries of the bare name count only if they hold the very key
 * (`checkHostKey` does that).
 */
export function entriesFor(entries: KnownHost[], name: string): KnownHost[] {
  return entries.filter((entry) => namesHost(entry.names, name))
}

/**
 * Compares the key a server showed with what is known of it. `bareName` is the name without port, tried only for a
 * match.
 */
export function checkHostKey(entries: KnownHost[], name: string, key: Buffer, bareName?: string): HostKeyVerdict {
  const mine = entriesFor(entries, name)
  const bare = bareName === undefined ? [] : entriesFor(entries, bareName)
  const by = [...mine, ...bare].find((entry) => entry.marker === 'revoked' && entry.key.equals(key))
  if (by) return {verdict: 'revoked', by}
  const plain = mine.filter((entry) => entry.marker === undefined)
  if (plain.some((entry) => entry.key.equals(key))) return {verdict: 'known'}
  // Also where only other types are known: those were offered first, so the server can prove none of them any more.
  if (plain.length > 0) return {verdict: 'changed', expected: plain}
  if (bare.some((entry) => entry.marker === undefined && entry.key.equals(key))) return {verdict: 'known'}
  const authority = mine.find((entry) => entry.marker === 'cert-authority')
  return authority ? {verdict: 'unknown', authority} : {verdict: 'unknown'}
}

/** SHA256:..., as ssh-keygen -l prints it. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** The type named inside a public key blob (RFC 4253, 6.6: a length and the name). */
export function keyTypeOf(key: Buffer): string {
  return key.length < 4 ? '' : key.subarray(4, 4 + key.readUInt32BE(0)).toString('latin1')
}

function parseLine(line: string, file: string, number: number): KnownHost | undefined {
  const words = line.trim().split(/\s+/)
  if (words[0] === '' || words[0]?.startsWith('#')) return undefined
  let marker: KnownHost['marker']
  if (words[0]?.startsWith('@')) {
    const word = words.shift()
    if (word !== '@revoked' && word !== '@cert-authority') return undefined
    marker = word === '@revoked' ? 'revoked' : 'cert-authority'
  }
  const [names, keyType, blob] = words
  if (names === undefined || keyType === undefined || blob === undefined) return undefined
  const key = Buffer.from(blob, 'base64')
  if (keyTypeOf(key) !== keyType) return undefined
  return {file, line: number, names, keyType, key, ...(marker ? {marker} : {})}
}

/**
 * `|1|salt|hash` is HMAC-SHA1 of the name with the salt as key (OpenSSH's hostfile.c); else a list of patterns, `!`
 * taking out.
 */
function namesHost(names: string, name: string): boolean {
  if (names.startsWith('|1|')) {
    const [, , salt, hash] = names.split('|')
    if (salt === undefined || hash === undefined) return false
    return createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash
  }
  return matchesPattern(names.toLowerCase().split(','), name)
}
