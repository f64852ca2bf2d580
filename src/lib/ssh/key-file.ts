import {readFile} from 'node:fs/promises'
import {textIfThere} from '../base/index.ts'
import type {ParsedKey} from 'ssh2'

/** What a key file holds as far as it can be told without a passphrase. */
export type KeyFile =
  | {state: 'open'; key: ParsedKey}
  /** `key` is the public part, where it is known. */
  | {state: 'locked'; key?: ParsedKey; text: string}
  | {state: 'public'; key: ParsedKey}
  | {state: 'missing' | 'unreadable'; reason: string}

/** Reads an identity file: a private key, or a public key that stands for one in the agent. */
export async function readKeyFile(path: string): Promise<KeyFile> {
  const {default: ssh2} = await import('ssh2')
  const parse = (text: string | Buffer): ParsedKey | undefined => {
    const key = ssh2.utils.parseKey(text)
    return key instanceof Error ? undefined : ([key].flat()[0] as ParsedKey)
  }
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const key = missing ? await readPublic(path, parse) : undefined
    if (key) return {state: 'public', key}
    return {state: missing ? 'missing' : 'unreadable', reason: (error as Error).message}
  }
  const key = parse(text)
  if (key) return key.isPrivateKey() ? {state: 'open', key} : {state: 'public', key}
  const blob = publicBlob(text)
  const known = blob === undefined ? await readPublic(path, parse) : parse(blob)
  if (blob !== undefined || /ENCRYPTED/.test(text)) return {state: 'locked', text, ...(known ? {key: known} : {})}
  return {
    state: 'unreadable',
    reason: "its format is not one that flexrack reads; `ssh-keygen -p -f` rewrites a key in OpenSSH's own",
  }
}

/** Undefined when the passphrase is wrong. */
export async function unlockKey(text: string, passphrase: string): Promise<ParsedKey | undefined> {
  const {default: ssh2} = await import('ssh2')
  const key = ssh2.utils.parseKey(text, passphrase)
  return key instanceof Error ? undefined : ([key].flat()[0] as ParsedKey)
}

async function readPublic(
  path: string,
  parse: (text: string) => ParsedKey | undefined,
): Promise<ParsedKey | undefined> {
  const text = await textIfThere(`${path}.pub`).catch(() => undefined) // it only helps
  return text ? parse(text) : undefined
}

/**
 * The public part of a locked key in OpenSSH's own format stands in the clear (PROTOCOL.key: magic, cipher, kdf, its
 * options, count, public key).
 */
function publicBlob(text: string): Buffer | undefined {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]*?)-----END/.exec(text)?.[1]
  if (body === undefined) return undefined
  const data = Buffer.from(body, 'base64')
  const magic = 'openssh-key-v1\0'
  if (data.subarray(0, magic.length).toString('latin1') !== magic) return undefined
  let at = magic.length
  const next = (): Buffer => {
    const length = data.readUInt32BE(at)
    at += 4 + length
    return data.subarray(at - length, at)
  }
  try {
    const cipher = next().toString('latin1')
    next()
    next()
    at += 4
    const key = next()
    return cipher === 'none' ? undefined : key
  } catch {
    return undefined
  }
}
