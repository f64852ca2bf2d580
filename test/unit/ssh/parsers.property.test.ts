import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import fc from 'fast-check'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {isCliError} from '../../../src/lib/base/index.ts'
import {resolveTarget, type Endpoint} from '../../../src/lib/ssh/config.ts'
import {checkHostKey, entriesFor, keyTypeOf, knownHostsName, readKnownHosts} from '../../../src/lib/ssh/known-hosts.ts'
import {recordHostKey} from '../../../src/lib/ssh/known-hosts-record.ts'
import {matchesPattern} from '../../../src/lib/ssh/pattern.ts'
import {bounded} from '../../support/property.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-parsers-'))
  await mkdir(join(home, '.ssh'))
})
// A property whose time is over is left in the middle: its last step may still be writing.
afterEach(() => rm(home, {recursive: true, force: true, maxRetries: 10}))

/** Longest that a file of a few kilobytes may keep the processor; how long it has to wait for it is not asked. */
const SLOW_MS = 2000

/** What `work` gives, or undefined where it throws an error of ours; anything else, and slowness, fails. */
async function ours<T>(work: () => Promise<T>): Promise<T | undefined> {
  const began = process.cpuUsage()
  try {
    return await work()
  } catch (error) {
    if (!isCliError(error)) throw error
    return undefined
  } finally {
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(SLOW_MS)
  }
}

const blob = fc
  .tuple(fc.constantFrom('ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp256'), fc.uint8Array({minLength: 1, maxLength: 64}))
  .map(([type, rest]) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(type.length)
    return Buffer.concat([length, Buffer.from(type), rest])
  })
const hostName = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/)
const noise = fc.oneof(
  fc.string({unit: 'binary', maxLength: 200}),
  fc.string({maxLength: 200}),
  fc.constantFrom('', '\0', '\r', '\ufeff', '#', '@revoked', '|1|', '|1|a|', '|1||', '*'.repeat(60), '!'),
)

describe('pattern lists', () => {
  test('take time by their length only, however many stars they have', () => {
    fc.assert(
      fc.property(
        fc.string({unit: fc.constantFrom('*', 'a', 'b', '?'), maxLength: 400}),
        fc.string({unit: fc.constantFrom('a', 'b'), maxLength: 400}),
        (pattern, text) => {
          const began = process.cpuUsage()
          matchesPattern([pattern], text)
          expect(process.cpuUsage(began).user / 1000).toBeLessThan(SLOW_MS)
        },
      ),
      bounded('patterns', {seconds: 4, runs: 2000}),
    )
    const began = process.cpuUsage()
    expect(matchesPattern([`${'*a'.repeat(40)}*b`], 'a'.repeat(200))).toBe(false)
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(SLOW_MS)
  })

  test('mean what a slow and plain reading of them means', () => {
    const plain = (pattern: string, text: string): boolean =>
      pattern === ''
        ? text === ''
        : pattern[0] === '*'
          ? plain(pattern.slice(1), text) || (text !== '' && plain(pattern, text.slice(1)))
          : text !== '' && (pattern[0] === '?' || pattern[0] === text[0]) && plain(pattern.slice(1), text.slice(1))
    fc.assert(
      fc.property(
        fc.string({unit: fc.constantFrom('*', '?', 'a', 'b', '.', '[', '\\', '$', '\n'), maxLength: 8}),
        fc.string({unit: fc.constantFrom('a', 'b', '.', '[', '\\', '$', '\n'), maxLength: 8}),
        (pattern, text) => {
          fc.pre(!pattern.startsWith('!'))
          expect(matchesPattern([pattern], text)).toBe(plain(pattern, text))
        },
      ),
      bounded('meaning of patterns', {seconds: 4, runs: 5000}),
    )
  })
})

describe('known_hosts', () => {
  const line = fc.oneof(
    noise,
    fc
      .tuple(fc.constantFrom('', '@revoked ', '@cert-authority ', '@else '), fc.oneof(hostName, noise), blob)
      .map(([marker, names, key]) => `${marker}${names} ${keyTypeOf(key)} ${key.toString('base64')}`),
  )

  test('with anything in it gives entries that hold together, or an error of ours', async () => {
    const file = join(home, 'known_hosts')
    await fc.assert(
      fc.asyncProperty(fc.array(line, {maxLength: 20}), hostName, blob, async (lines, host, key) => {
        await writeFile(file, lines.join('\n'))
        const entries = (await ours(() => readKnownHosts([file]))) ?? []
        for (const entry of entries) {
          expect(keyTypeOf(entry.key)).toBe(entry.keyType)
          expect(lines.join('\n').split('\n')[entry.line - 1]).toContain(entry.names)
        }
        expect(['known', 'unknown', 'changed', 'revoked']).toContain(checkHostKey(entries, host, key, host).verdict)
      }),
      bounded('known_hosts', {seconds: 5, runs: 500}),
    )
  })

  test('gives back the keys that were recorded, whatever stood there before, plain and hashed, and no other', async () => {
    const file = join(home, 'known_hosts')
    await fc.assert(
      fc.asyncProperty(
        fc.array(noise, {maxLength: 5}),
        hostName,
        fc.integer({min: 1, max: 65_535}),
        blob,
        blob,
        fc.boolean(),
        async (before, host, port, key, other, hashed) => {
          fc.pre(!key.equals(other))
          await writeFile(file, before.join('\n'))
          const name = knownHostsName(host, port)
          fc.pre(entriesFor(await readKnownHosts([file]), name).length === 0)
          await recordHostKey(file, name, key, hashed)
          await recordHostKey(file, name, key, hashed)
          const entries = await readKnownHosts([file])
          expect(entriesFor(entries, name)).toMatchObject([{keyType: keyTypeOf(key)}])
          expect(checkHostKey(entries, name, key)).toEqual({verdict: 'known'})
          expect(checkHostKey(entries, name, other).verdict).toBe('changed')
          expect(checkHostKey(entries, `${name}x`, key).verdict).toBe('unknown')
        },
      ),
      bounded('recorded keys', {seconds: 5, runs: 300}),
    )
  })
})

describe('ssh_config', () => {
  const resolve = (config: string, host: string): Promise<Endpoint | undefined> =>
    ours(async () => {
      await writeFile(join(home, '.ssh', 'config'), config)
      return resolveTarget({name: 'node-1', host}, {HOME: home})
    })
  const word = fc.oneof(
    hostName,
    fc.constantFrom(
      '*',
      '!x',
      '""',
      '"',
      "'",
      '=',
      '%h',
      '%%',
      '${HOME}',
      '${',
      '~',
      'none',
      'yes',
      '-1',
      '0',
      '99999',
      '22x',
      'a,b',
      'config',
      '../config',
      'x@y:1',
      '[::1]:22',
      '\\',
    ),
    noise,
  )
  const key = fc.constantFrom(
    'Host',
    'HostName',
    'Port',
    'User',
    'IdentityFile',
    'IdentityAgent',
    'IdentitiesOnly',
    'ProxyJump',
    'ProxyCommand',
    'Include',
    'Match',
    'UserKnownHostsFile',
    'GlobalKnownHostsFile',
    'HostKeyAlias',
    'HashKnownHosts',
    '__proto__',
    'constructor',
    'Other',
  )
  const line = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(key, fc.constantFrom(' ', '=', ' = ', '\t', ''), fc.array(word, {maxLength: 3}))
        .map(([name, between, words]) => `${name}${between}${words.join(' ')}`),
    },
    {weight: 1, arbitrary: noise},
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.constantFrom(
            'host',
            'originalhost',
            'user',
            'localuser',
            'all',
            'exec',
            'canonical',
            '!host',
            '__proto__',
          ),
          word,
        )
        .map(([what, value]) => `Match ${what} ${value}`),
    },
  )

  test('with anything in it gives an address that can be connected to, or an error of ours', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, {maxLength: 15}), hostName, async (lines, host) => {
        const found = await resolve(lines.join('\n'), host)
        for (let at = found; at; at = at.jump) {
          expect(Number.isInteger(at.port) && at.port >= 1 && at.port <= 65_535).toBe(true)
          expect([at.host, at.user, at.knownAs]).toEqual([expect.any(String), expect.any(String), expect.any(String)])
          for (const file of [...at.identityFiles, ...at.knownHostsFiles, ...at.globalKnownHostsFiles])
            expect(file).toEqual(expect.any(String))
        }
      }),
      bounded('ssh_config', {seconds: 8, runs: 800}),
    )
  })

  test('gives back what was written for a host, quoted or not, and nothing of another', async () => {
    const value = fc.stringMatching(/^[a-z][a-z0-9._-]{0,15}$/)
    await fc.assert(
      fc.asyncProperty(
        hostName,
        hostName,
        value,
        fc.integer({min: 1, max: 65_535}),
        value,
        fc.boolean(),
        async (host, other, user, port, file, quoted) => {
          fc.pre(host !== other)
          const q = quoted ? '"' : ''
          const text = `Host ${other}\n  User wrong\n  Port 1\n  IdentityFile wrong\nHost ${host}\n  HostName ${q}${host}.lan${q}\n  User ${q}${user}${q}\n  Port ${port}\n  IdentityFile ${q}/k/${file}${q}\n`
          expect(await resolve(text, host)).toMatchObject({
            host: `${host}.lan`,
            user,
            port,
            identityFiles: [`/k/${file}`],
          })
        },
      ),
      bounded('written for a host', {seconds: 4, runs: 300}),
    )
  })
})
