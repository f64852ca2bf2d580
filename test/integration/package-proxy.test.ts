import {execFileSync} from 'node:child_process'
import {mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext, silentReporter, type Context} from '../../src/lib/base/index.ts'
import {ensureEnvironment, openHost, type Environment, type Host} from '../../src/lib/host/index.ts'
import type {RackNode} from '../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {startPackageIndex, type PackageIndex} from '../support/package-index.ts'
import {startPythonServer, type PythonServer} from '../support/python-archive.ts'

/** Fetches uv, on machines that may be busy. */
const LONG = 600_000
const NODES = 4

describe.skipIf(!mayMakeNetworks())('four nodes without a route to any package index', () => {
  let net: TestNetRack
  let index: PackageIndex
  let pythons: PythonServer
  let folder: string
  let hosts: Host[]
  const fleets: Fleet[] = []
  const warnings: string[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flexrack-share-'))
    index = await startPackageIndex(['alpha', 'beta', 'gamma', 'delta', 'epsilon'])
    pythons = await startPythonServer(folder)
    net = await startNetRack(NODES, undefined, () => ({
      UV_PYTHON_DOWNLOADS_JSON_URL: pythons.known,
      PIP_CONFIG_FILE: '/dev/null',
      PIP_FIND_LINKS: '',
      UV_HTTP_RETRIES: '0',
    }))
    // A connection each, so that one may be lost.
    hosts = await Promise.all(
      net.rack.nodes.map(async (node) => {
        const fleet = openFleet([node], makeContext())
        fleets.push(fleet)
        return openHost(fleet, {...node, network: 'through-client'} as RackNode, makeContext())
      }),
    )
    // Only the client trusts the index; uv itself comes from the index of this machine.
    const both = join(folder, 'both.pem')
    await writeFile(
      both,
      `${await readFile(process.env.PIP_CERT ?? '/etc/ssl/certs/ca-certificates.crt', 'utf8').catch(() => '')}\n${await readFile(index.ca, 'utf8')}`,
    )
    // Brings uv; a caller's settings as below lead to an index that has none.
    for (const host of hosts)
      await ensureEnvironment(
        {...host, network: {way: 'through-client', hosts: [new URL(index.secure).host]}},
        {requirements: `--index-url ${index.secure}\nepsilon\n`},
        makeContext({env: {...process.env, SSL_CERT_FILE: both, FLEXRACK_HOME: join(folder, 'home')}}),
      )
  }, LONG)
  afterAll(async () => {
    for (const fleet of fleets) await fleet.close()
    await net?.stop()
    await index?.stop()
    await pythons?.stop()
    await rm(folder, {recursive: true, force: true})
  })

  const caller = (url: string): Context =>
    makeContext({
      env: {
        ...process.env,
        FLEXRACK_HOME: join(folder, 'home'),
        PIP_CONFIG_FILE: '/dev/null',
        SSL_CERT_FILE: index.ca,
        PIP_INDEX_URL: url,
        PIP_EXTRA_INDEX_URL: '',
        PIP_FIND_LINKS: '',
      },
      reporter: {...silentReporter, warn: (text) => void warnings.push(text)},
    })
  const build = (host: Host, requirements: string, url = index.secure): Promise<Environment> =>
    ensureEnvironment(host, {requirements, together: true}, caller(url))
  const listening = (node: string): string[] =>
    net
      .inside(node, 'ss', '-ltnH')
      .split('\n')
      .flatMap((line) => /(\S+):\d+ +\S+:\*/.exec(line)?.slice(1) ?? [])
      .filter((address) => address === net.addresses[node] || address === '127.0.0.1')
  const left = async (): Promise<string[]> =>
    (await Promise.all(hosts.map(({environments}) => readdir(join(environments, '.uv')))))
      .flat()
      .filter((name) => name.startsWith('.share-'))
  const version = ({path}: Environment, name: string): string =>
    execFileSync(`${path}/bin/python`, ['-c', `import ${name}; print(${name}.version)`], {encoding: 'utf8'}).trim()
  const asked = (name: string): number =>
    index.asked.filter((path) => path === `/files/${name}-1.0-py3-none-any.whl`).length
  const pages = (name: string): number => index.asked.filter((path) => path === `/simple/${name}/`).length
  const until = async (look: () => boolean): Promise<void> => {
    for (const end = Date.now() + 240_000; Date.now() < end && !look();)
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(look()).toBe(true)
  }

  test(
    'load the line of this machine with uv, a Python and packages as one of them does',
    async () => {
      const anew = async (those: Host[]): Promise<number> => {
        for (const {environments} of those) await rm(environments, {recursive: true, force: true})
        const before = await net.sentBytes()
        const context = makeContext({env: {...caller(index.secure).env, UV_PYTHON_INSTALL_MIRROR: pythons.mirror}})
        const built = await Promise.all(
          those.map((host) =>
            ensureEnvironment(host, {requirements: 'epsilon\n', python: '3.9', together: true}, context),
          ),
        )
        expect(
          built.map(({path}) =>
            execFileSync(
              `${path}/bin/python`,
              ['-c', 'import epsilon, sys; print(epsilon.version, sys.version.split()[0])'],
              {encoding: 'utf8'},
            ).trim(),
          ),
        ).toEqual(those.map(() => '1.0 3.9.2'))
        return (await net.sentBytes()) - before
      }
      const one = await anew(hosts.slice(0, 1))
      const archives = (): number => pythons.asked.filter((path) => path.includes('install_only')).length
      expect(archives()).toBe(1)
      const all = await anew(hosts)
      expect(archives()).toBe(2)
      console.log(
        `bytes from this machine: ${one} to one node, ${all} to ${NODES} at once (${(all / one).toFixed(2)} times)`,
      )
      expect(one).toBeGreaterThan(pythons.bytes + 15e6)
      expect(all).toBeLessThan(1.3 * one)
      expect(await left()).toEqual([])
    },
    LONG,
  )

  test(
    'get each file once through this machine, then from each other, and nothing is left of that',
    async () => {
      const before = hosts.map(({node}) => listening(node))
      const built = await Promise.all(hosts.map((host) => build(host, 'alpha\nbeta\n')))
      expect(built.map((one) => [version(one, 'alpha'), version(one, 'beta')])).toEqual(
        Array.from({length: NODES}, () => ['1.0', '1.0']),
      )
      expect([asked('alpha'), asked('beta'), warnings]).toEqual([1, 1, []])
      expect(hosts.map(({node}) => listening(node))).toEqual(before)
      expect(await left()).toEqual([])
    },
    LONG,
  )

  test(
    'go on where one of them is lost in the middle of a download',
    async () => {
      const free = index.hold('gamma-1.0-py3-none-any.whl')
      const lost = build(hosts[0] as Host, 'gamma\n')
      const ended = expect(lost).rejects.toMatchObject({code: expect.stringMatching(/NODE_UNREACHABLE|REMOTE_FAILED/)})
      await until(() => asked('gamma') === 1)
      const others = hosts.slice(1).map((host) => build(host, 'gamma\n'))
      // They wait for it: each has asked for the page, nobody for the file.
      await until(() => pages('gamma') >= NODES)
      expect(asked('gamma')).toBe(1)
      await fleets[0]?.close()
      await until(() => asked('gamma') === 2)
      free()
      await ended
      expect((await Promise.all(others)).map((one) => version(one, 'gamma'))).toEqual(['1.0', '1.0', '1.0'])
      expect(asked('gamma')).toBe(2)
    },
    LONG,
  )

  test(
    'name what failed as ever, with the real addresses',
    async () => {
      const failed = await Promise.allSettled(hosts.slice(1).map((host) => build(host, 'delta\nzeta\n')))
      for (const one of failed) {
        expect(one).toMatchObject({reason: {code: 'ENVIRONMENT_FAILED', details: {requirement: 'zeta'}}})
        expect(JSON.stringify((one as PromiseRejectedResult).reason.details)).not.toContain('flexrack.invalid')
      }
    },
    LONG,
  )

  test(
    'give nothing to who lacks the secret, whatever it says',
    async () => {
      const free = index.hold('delta-1.0-py3-none-any.whl')
      const seen = pages('delta')
      const building = Promise.all(hosts.slice(1).map((host) => build(host, 'delta\n')))
      building.catch(() => {})
      // All of them are at it: what follows stops this process now and then.
      await until(() => asked('delta') > 0 && pages('delta') >= seen + 3)
      const node = hosts[1]?.node as string
      const address = net.addresses[node] as string
      const ports = net
        .inside(node, 'ss', '-ltnH')
        .split('\n')
        .flatMap((line) => new RegExp(`${address.replaceAll('.', '\\.')}:(\\d+) `).exec(line)?.[1] ?? [])
      expect(ports.length).toBeGreaterThan(0)
      const ask = (port: string, said: string): string =>
        net.inside(
          'node-3',
          'python3',
          '-I',
          '-c',
          'import socket, sys\nwith socket.create_connection((sys.argv[1], int(sys.argv[2])), 30) as one:\n    one.sendall(sys.argv[3].encode())\n    one.shutdown(1)\n    print(one.recv(200).decode(errors="replace").split("\\r\\n")[0])',
          address,
          port,
          said,
        )
      for (const port of ports) {
        for (const said of [
          '{"proof": 1, "returns": Infinity}\n',
          'GET / HTTP/1.1\r\n\r\n',
          `GET /${'0'.repeat(64)} HTTP/1.1\r\nAuthorization: Bearer x\r\n\r\n`,
          'GET /../../etc/passwd HTTP/1.1\r\n\r\n',
        ]) {
          expect(ask(port, said)).not.toContain(' 200 ')
        }
      }
      free()
      expect((await building).map((one) => version(one, 'delta'))).toEqual(['1.0', '1.0', '1.0'])
    },
    LONG,
  )
})
