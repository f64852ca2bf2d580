import {execFileSync} from 'node:child_process'
import {X509Certificate} from 'node:crypto'
import {chmod, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {createServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {connect} from 'node:tls'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {Authority} from '../../../../../src/lib/head/service/tls/authority.ts'
import type {Identity} from '../../../../../src/lib/head/service/tls/certificates.ts'

const DAY_MS = 24 * 3_600_000
const NOW = Date.now()
const HEAD = {name: 'flexrack head', names: ['flexrack-head', '127.0.0.1', '::1'], usage: 'server' as const}

let folder: string
let now: number

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-authority-'))
  now = NOW
})
afterEach(() => rm(folder, {recursive: true, force: true}))

const open = (): Promise<Authority> => Authority.open(folder, () => now)

/**
 * What a client that trusts `ca` sees of a server with this identity: undefined where it is let in, or the error's
 * code.
 */
async function handshake(identity: Identity, ca: string, servername: string): Promise<string | undefined> {
  const server = createServer({key: identity.key, cert: identity.certificate})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await new Promise((resolve) => {
      const socket = connect({port: (server.address() as AddressInfo).port, host: '127.0.0.1', ca, servername}, () => {
        socket.destroy()
        resolve(undefined)
      })
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    })
  } finally {
    server.close()
  }
}

describe('the authority of a rack', () => {
  test('is made once, of P-256, and nobody else can read its files', async () => {
    const first = await open()
    const identity = await first.leaf('listener', HEAD)
    const again = await open()
    expect(again.trusted).toBe(first.trusted)
    expect(await again.leaf('listener', HEAD)).toEqual(identity)
    expect(new X509Certificate(first.trusted).publicKey.asymmetricKeyDetails).toEqual({namedCurve: 'prime256v1'})
    const tls = join(folder, 'tls')
    expect((await stat(tls)).mode & 0o777).toBe(0o700)
    for (const name of await readdir(tls))
      expect([name, (await stat(join(tls, name))).mode & 0o777]).toEqual([name, 0o600])
  })

  test('one that cannot be read is not made anew: everybody trusts the old one', async () => {
    await open()
    await writeFile(join(folder, 'tls', 'authority.json'), '{"current"')
    await expect(open()).rejects.toThrow(/authority\.json cannot be read/)
    if (process.getuid?.() !== 0) {
      await chmod(join(folder, 'tls', 'authority.json'), 0)
      await expect(open()).rejects.toThrow(/authority\.json cannot be read/)
    }
    expect(await readFile(join(folder, 'tls', 'authority.json'), 'utf8').catch(() => '{"current"')).toBe('{"current"')
  })

  test('its leaves open for who trusts it and calls them by their names, and for nobody else', async () => {
    const authority = await open()
    const identity = await authority.leaf('listener', HEAD)
    expect(await handshake(identity, authority.trusted, 'flexrack-head')).toBeUndefined()
    expect(await handshake(identity, authority.trusted, 'another')).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
    const otherAuthority = await Authority.open(join(folder, 'other-authority'))
    expect(await handshake(await otherAuthority.leaf('listener', HEAD), authority.trusted, 'flexrack-head')).toMatch(
      /UNABLE_TO_VERIFY|SELF_SIGNED/,
    )
    // What it signs for a model server is no head.
    expect(
      await handshake(
        await authority.lasting({name: 'model server', names: ['127.0.0.1'], usage: 'server'}),
        authority.trusted,
        'flexrack-head',
      ),
    ).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
  })

  test('openssl finds nothing to complain of, strictly, for servers and for clients', async () => {
    const authority = await open()
    await writeFile(join(folder, 'ca.pem'), authority.trusted)
    for (const [name, purpose, usage] of [
      ['listener', 'sslserver', 'server'],
      ['gateway', 'sslclient', 'client'],
    ] as const) {
      await writeFile(join(folder, `${name}.pem`), (await authority.leaf(name, {...HEAD, usage})).certificate)
      const verify = (as: string): string =>
        execFileSync(
          'openssl',
          ['verify', '-x509_strict', '-purpose', as, '-CAfile', join(folder, 'ca.pem'), join(folder, `${name}.pem`)],
          {encoding: 'utf8', stdio: 'pipe'},
        )
      expect(verify(purpose)).toContain('OK')
      expect(() => verify(purpose === 'sslserver' ? 'sslclient' : 'sslserver')).toThrow()
    }
  })

  test('a certificate is renewed a month before its end, and when its names change', async () => {
    const authority = await open()
    const first = await authority.leaf('listener', HEAD)
    now = NOW + 50 * DAY_MS
    expect(await authority.leaf('listener', HEAD)).toEqual(first)
    now = NOW + 61 * DAY_MS
    const second = await authority.leaf('listener', HEAD)
    expect(second.key).not.toBe(first.key)
    const third = await authority.leaf('listener', {...HEAD, names: [...HEAD.names, '10.1.2.3']})
    expect(new X509Certificate(third.certificate).checkIP('10.1.2.3')).toBe('10.1.2.3')
  })

  test('its successor is trusted by who only knows the old one, and the old one is forgotten when it has ended', async () => {
    const authority = await open()
    const old = authority.trusted
    // Made in the future, its certificates would not be valid yet: the rack is nine years old instead.
    now = NOW - 9 * 365 * DAY_MS
    const aged = await Authority.open(join(folder, 'aged'), () => now)
    const known = aged.trusted
    const server = await aged.lasting({name: 'model server', names: ['flexrack-head'], usage: 'server'})
    now = NOW
    const identity = await aged.leaf('listener', HEAD)
    expect(aged.trusted).not.toBe(known)
    expect(aged.trusted).toContain(known.trim())
    for (const ca of [known, aged.trusted, aged.trusted.replace(known, '')])
      expect(await handshake(identity, ca, 'flexrack-head')).toBeUndefined()
    expect(await handshake(identity, old, 'flexrack-head')).toBeDefined()
    // What the old one signed for a model server goes on to be trusted.
    expect(await handshake(server, aged.trusted, 'flexrack-head')).toBeUndefined()
    now = NOW + 1.1 * 365 * DAY_MS
    await aged.renew()
    expect(aged.trusted).not.toContain(known.trim())
    expect(await readFile(join(folder, 'aged', 'tls', 'ca.pem'), 'utf8')).toBe(aged.trusted)
  })
})
