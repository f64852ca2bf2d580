import {mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {
  checkHostKey,
  entriesFor,
  fingerprint,
  keyTypeOf,
  knownHostsName,
  readKnownHosts,
} from '../../../src/lib/ssh/known-hosts.ts'
import {hashName, recordHostKey} from '../../../src/lib/ssh/known-hosts-record.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-known-'))
  file = join(folder, 'sub', 'known_hosts')
})
afterEach(() => rm(folder, {recursive: true, force: true}))

/** A public key blob: its type, and some bytes. */
function blob(type: string, fill: number): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  return Buffer.concat([length, Buffer.from(type), Buffer.alloc(32, fill)])
}
const ED = blob('ssh-ed25519', 1)
const OTHER = blob('ssh-ed25519', 2)
const RSA = blob('ssh-rsa', 3)

async function read(...lines: string[]): ReturnType<typeof readKnownHosts> {
  const path = join(folder, 'known_hosts')
  await writeFile(path, lines.join('\n'))
  return readKnownHosts([path, join(folder, 'missing')])
}
const entry = (names: string, key: Buffer): string => `${names} ${keyTypeOf(key)} ${key.toString('base64')} comment`

describe('a known_hosts file', () => {
  it('passes over comments, blank and torn lines, unknown markers, and keys that are not what they say', async () => {
    const entries = await read(
      '# note',
      '',
      'only-a-name',
      `host ssh-rsa ${ED.toString('base64')}`,
      `@future ${entry('host', ED)}`,
      entry('host', ED),
    )
    expect(entries).toMatchObject([{line: 6, names: 'host', keyType: 'ssh-ed25519'}])
  })

  it('is an error where it is there and cannot be read: taken for empty, it would forget changed and revoked keys', async () => {
    await mkdir(join(folder, 'known_hosts'))
    await expect(readKnownHosts([join(folder, 'known_hosts')])).rejects.toMatchObject({
      code: 'LOCAL_FAILED',
      message: expect.stringContaining('known_hosts cannot be read (EISDIR)'),
    })
    await expect(recordHostKey(join(folder, 'known_hosts'), 'n', ED, false)).rejects.toMatchObject({
      code: 'LOCAL_FAILED',
    })
  })

  it('names a host with its port unless that is 22', () => {
    expect([knownHostsName('Node.Lan', 22), knownHostsName('node.lan', 2222), knownHostsName('::1', 2222)]).toEqual([
      'node.lan',
      '[node.lan]:2222',
      '[::1]:2222',
    ])
  })

  it('finds hashed names, lists, wildcards, and leaves out what is negated', async () => {
    const entries = await read(
      entry(hashName('node.lan'), ED),
      entry('*.lan,!bad.lan', RSA),
      entry('NODE.LAN', OTHER),
      entry('node?lan', OTHER),
    )
    expect(entriesFor(entries, 'node.lan').map((one) => one.line)).toEqual([1, 2, 3, 4])
    expect(entriesFor(entries, 'bad.lan')).toEqual([])
  })
})

describe('checkHostKey', () => {
  it('knows a key among several of a host', async () => {
    const entries = await read(entry('n', RSA), entry('n', ED))
    expect(checkHostKey(entries, 'n', ED)).toEqual({verdict: 'known'})
  })

  it('tells unknown from changed, and counts a host of which only other types are known as changed', async () => {
    const entries = await read(entry('n', ED), entry('m', RSA))
    expect(checkHostKey(entries, 'x', ED)).toEqual({verdict: 'unknown'})
    expect(checkHostKey(entries, 'n', OTHER)).toMatchObject({verdict: 'changed', expected: [{line: 1}]})
    expect(checkHostKey(entries, 'm', ED)).toMatchObject({verdict: 'changed', expected: [{line: 2}]})
  })

  it('takes the bare name only for the very same key', async () => {
    const entries = await read(entry('n', ED))
    expect(checkHostKey(entries, '[n]:2222', ED, 'n')).toEqual({verdict: 'known'})
    expect(checkHostKey(entries, '[n]:2222', OTHER, 'n')).toEqual({verdict: 'unknown'})
  })

  it('refuses a revoked key wherever it stands, and never takes an authority for a key', async () => {
    const entries = await read(entry('n', ED), `@revoked ${entry('*', ED)}`, `@cert-authority ${entry('m', OTHER)}`)
    expect(checkHostKey(entries, 'n', ED)).toMatchObject({verdict: 'revoked', by: {line: 2}})
    expect(checkHostKey(entries, 'm', OTHER)).toMatchObject({verdict: 'unknown', authority: {line: 3}})
  })
})

describe('fingerprint', () => {
  it('is what ssh-keygen -l prints', () => {
    // ssh-keygen -lf on the line "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
    const key = Buffer.from('AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f', 'base64')
    expect(fingerprint(key)).toBe('SHA256:ZkAslGjFiUHdGf/WUL8rQvkib4PTvQatUV0OUQSncCA')
  })
})

describe('recordHostKey', () => {
  it('makes folder and file for the user alone, and adds a key once however many record it at the same time', async () => {
    await Promise.all(Array.from({length: 10}, () => recordHostKey(file, 'n', ED, false)))
    expect(await readFile(file, 'utf8')).toBe(`n ssh-ed25519 ${ED.toString('base64')}\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'sub'))).mode & 0o777).toBe(0o700)
  })

  it('takes over a lock that a killed process left', async () => {
    await recordHostKey(file, 'n', ED, false)
    await writeFile(`${file}.flexrack-lock`, '')
    await utimes(`${file}.flexrack-lock`, 1e9, 1e9)
    await recordHostKey(file, 'm', RSA, true)
    expect(checkHostKey(await readKnownHosts([file]), 'm', RSA)).toEqual({verdict: 'known'})
  })
})
