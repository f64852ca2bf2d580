import {execFileSync, spawn, spawnSync} from 'node:child_process'
import {subscribe, unsubscribe} from 'node:diagnostics_channel'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {text} from 'node:stream/consumers'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext, silentReporter, type Context} from '../../src/lib/base/index.ts'
import {ensureEnvironment, openHost, type Environment, type Host} from '../../src/lib/host/index.ts'
import type {RackNode} from '../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {startPackageIndex, type PackageIndex} from '../support/package-index.ts'

/** Fetches uv, on machines that may be busy. */
const LONG = 600_000
/** Asks what listens there for something, and prints the first line of the answer. */
const ASK = `import base64, socket, sys
port, line, secret = sys.argv[1:]
with socket.create_connection(("127.0.0.1", int(port)), 30) as there:
    proof = "Proxy-Authorization: Basic " + base64.b64encode(f"flexrack:{secret}".encode()).decode() + "\\r\\n" if secret else ""
    there.sendall(f"{line} HTTP/1.1\\r\\nHost: x\\r\\n{proof}\\r\\n".encode())
    print(there.recv(4096).decode().split("\\r\\n")[0])
`
/** Paths below /proc in whose file the secret stands that comes on stdin, of those that can be read. */
const SEEK = `import glob, sys
secret = sys.stdin.buffer.read().strip()
for path in glob.glob(f"/proc/[0-9]*/{sys.argv[1]}"):
    try:
        if secret in open(path, "rb").read(): print(path)
    except OSError: pass
`

describe.skipIf(!mayMakeNetworks())('a node without a route to any package index', () => {
  let net: TestNetRack
  let index: PackageIndex
  let folder: string
  let fleet: Fleet
  let env: NodeJS.ProcessEnv
  let space: string
  const ways: string[] = []
  const note = (message: unknown): void => {
    const {part, value} = message as {part: string; value: {download?: {proxy: string}} | null}
    if (part === 'input' && value?.download) ways.push(value.download.proxy)
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flexrack-through-'))
    index = await startPackageIndex(['alpha', 'beta', 'gamma', 'delta', 'epsilon'])
    await mkdir(join(folder, 'environments'), {mode: 0o700})
    net = await startNetRack(1, join(folder, 'environments'), () => ({
      PIP_CONFIG_FILE: '/dev/null',
      PIP_FIND_LINKS: '',
      UV_HTTP_RETRIES: '0',
      SSL_CERT_FILE: index.ca,
    }))
    space = net.inside('node-1', 'ip', 'netns', 'identify').trim()
    fleet = openFleet(net.rack.nodes, makeContext())
    env = {...process.env, FLEXRACK_HOME: join(folder, 'home')}
    subscribe('flexrack.message', note)
    // Brings uv to the node; other callers' settings lead to an index that has none.
    await ensureEnvironment(await named(), {requirements: `--index-url ${index.secure}\nepsilon\n`}, makeContext({env}))
  }, LONG)
  afterAll(async () => {
    unsubscribe('flexrack.message', note)
    await fleet?.close()
    await net?.stop()
    await index?.stop()
    await rm(folder, {recursive: true, force: true})
  })

  const host = async (parts: Partial<RackNode>): Promise<Host> =>
    openHost(fleet, {...(net.rack.nodes[0] as RackNode), ...parts}, makeContext())
  const through = (): Promise<Host> => host({network: 'through-client'})
  const named = (): Promise<Host> => host({network: 'through-client', networkHosts: [new URL(index.secure).host]})
  /** A caller whose pip is set to the index. */
  const caller = (url: string, more: Partial<Context> = {}): Context =>
    makeContext({
      env: {...env, PIP_CONFIG_FILE: '/dev/null', PIP_INDEX_URL: url, PIP_EXTRA_INDEX_URL: '', PIP_FIND_LINKS: ''},
      ...more,
    })
  const version = ({path}: Environment, name: string): string =>
    execFileSync(`${path}/bin/python`, ['-c', `import ${name}; print(${name}.version)`], {encoding: 'utf8'})
  const listening = (): number[] =>
    net
      .inside('node-1', 'ss', '-ltnH')
      .split('\n')
      .flatMap((line) => /127\.0\.0\.1:(\d+) /.exec(line)?.slice(1).map(Number) ?? [])
  /** Not synchronous: what it asks is in this process. */
  const asNobody = async (program: string, words: string[], input = ''): Promise<string> => {
    const child = spawn(
      'ip',
      [
        'netns',
        'exec',
        space,
        'setpriv',
        '--reuid=65534',
        '--regid=65534',
        '--clear-groups',
        '/usr/bin/python3',
        '-I',
        '-c',
        program,
        ...words,
      ],
      {stdio: ['pipe', 'pipe', 'ignore']},
    )
    child.stdin.end(input)
    return (await text(child.stdout)).trim()
  }
  const until = async <T>(look: () => T | undefined | false): Promise<T> => {
    for (const end = Date.now() + 240_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
      const found = look()
      if (found) return found
    }
    throw new Error('it did not come')
  }

  test(
    'is told that this machine reaches the index, and how its packages come through it; then they do, and nothing is left listening',
    async () => {
      const requirements = `--index-url ${index.secure}\nalpha\n`
      const failed = ensureEnvironment(await host({}), {requirements}, makeContext({env}))
      await expect(failed).rejects.toMatchObject({
        code: 'ENVIRONMENT_FAILED',
        message: expect.stringContaining('the package index cannot be reached from this node'),
      })
      const offered = ensureEnvironment(await host({}), {requirements}, caller(index.secure))
      await expect(offered).rejects.toMatchObject({
        hint: 'this machine reaches 127.0.0.1: write `network: through-client` for node-1 into the rack file, and its packages come through the SSH connection',
      })
      expect(index.asked.filter((path) => path.includes('alpha'))).toEqual([])

      // What a project names may not lead into this machine's own network; what its user has set may.
      await expect(ensureEnvironment(await through(), {requirements}, makeContext({env}))).rejects.toMatchObject({
        message: `node-1: uv could not install the requirements: it asked for ${new URL(index.secure).host}, which no setting here names`,
        hint: `if it is right, write \`network_hosts: [${new URL(index.secure).host}]\` into the rack file`,
      })
      const warnings: string[] = []
      const built = await ensureEnvironment(
        await named(),
        {requirements},
        makeContext({env, reporter: {...silentReporter, warn: (text) => void warnings.push(text)}}),
      )
      expect([version(built, 'alpha'), warnings]).toEqual(['1.0\n', []])
      expect(listening()).toEqual([])
    },
    LONG,
  )

  test(
    "uses this machine's index where it has none of its own, with and without TLS",
    async () => {
      const built = await ensureEnvironment(await through(), {requirements: 'beta\n'}, caller(index.plain))
      expect(version(built, 'beta')).toBe('1.0\n')
      expect(index.asked).toContain('/files/beta-1.0-py3-none-any.whl')
      await expect(
        ensureEnvironment(await through(), {requirements: 'alpha==3\n'}, caller(index.secure)),
      ).rejects.toMatchObject({message: 'node-1: uv could not install alpha==3 (line 1)'})
    },
    LONG,
  )

  test(
    'gets no host that nobody named, and its own settings name none',
    async () => {
      const own = join(net.servers['node-1']?.home as string, '.config/uv')
      await mkdir(own, {recursive: true})
      await writeFile(join(own, 'uv.toml'), '[[index]]\nurl = "https://other.example/simple"\ndefault = true\n')
      const pins = '# https://other.example/\n' // another node's answer
      await expect(
        ensureEnvironment(
          await through(),
          {requirements: 'gamma\n', pins},
          makeContext({env: {...env, PIP_CONFIG_FILE: '/dev/null'}}),
        ),
      ).rejects.toMatchObject({
        message: expect.stringContaining('it asked for other.example:443, which no setting here names'),
        hint: 'if it is right, write `network_hosts: [other.example]` into the rack file',
      })
      await rm(own, {recursive: true})
    },
    LONG,
  )

  test(
    'opens its way to who has the secret only, keeps that from other accounts, and takes it away with the command',
    async () => {
      const free = index.hold('delta-1.0-py3-none-any.whl')
      const building = ensureEnvironment(await through(), {requirements: 'delta\n'}, caller(index.secure))
      building.catch(() => {})
      await Promise.race([building, until(() => index.asked.includes('/files/delta-1.0-py3-none-any.whl'))])
      const {port, password: secret} = new URL(ways.at(-1) as string)
      expect(listening()).toEqual([Number(port)])
      const ask = (line: string, proof: string): Promise<string> => asNobody(ASK, [port, line, proof])
      const target = new URL(index.secure).host
      expect(await ask(`CONNECT ${target}`, '')).toBe('HTTP/1.1 407 Proxy Authentication Required')
      expect(await ask(`CONNECT ${target}`, `${secret.slice(0, -1)}!`)).toMatch(/^HTTP\/1\.1 407 /)
      expect(await ask(`GET ${index.plain}/beta/`, '')).toMatch(/^HTTP\/1\.1 407 /)
      expect(await ask('CONNECT other.example:443', secret)).toMatch(/^HTTP\/1\.1 403 /)
      expect(await ask('CONNECT 127.0.0.1:22', secret)).toMatch(/^HTTP\/1\.1 403 /)
      expect(await ask('CONNECT 169.254.169.254:80', secret)).toMatch(/^HTTP\/1\.1 403 /)
      expect(await ask('GET http://other.example/', secret)).toMatch(/^HTTP\/1\.1 403 /)
      expect(await ask(`CONNECT ${target}`, secret)).toMatch(/^HTTP\/1\.1 200 /)
      // In the environment of uv, which its owner alone can read, and nowhere else.
      expect(await asNobody(SEEK, ['environ'], secret)).toBe('')
      expect(execFileSync('python3', ['-I', '-c', SEEK, 'environ'], {input: secret, encoding: 'utf8'})).not.toBe('')
      expect(execFileSync('python3', ['-I', '-c', SEEK, 'cmdline'], {input: secret, encoding: 'utf8'})).toBe('')
      expect(
        spawnSync('grep', ['-rlF', '-f', '-', folder, net.servers['node-1']?.folder as string], {
          input: secret,
          encoding: 'utf8',
        }).stdout,
      ).toBe('')
      expect(net.servers['node-1']?.log()).not.toContain(secret)
      free()
      expect(version(await building, 'delta')).toBe('1.0\n')
      expect(listening()).toEqual([])
      expect(await ask(`CONNECT ${target}`, secret)).toBe('')
    },
    LONG,
  )

  test(
    'keeps no way where the command is interrupted, or its connection is lost, in the middle',
    async () => {
      for (const how of ['interrupted', 'lost']) {
        const free = index.hold('gamma-1.0-py3-none-any.whl')
        const seen = index.asked.length
        const stop = new AbortController()
        const building = ensureEnvironment(
          await through(),
          {requirements: 'gamma\n'},
          caller(index.secure, {signal: stop.signal}),
        )
        const ended = expect(building).rejects.toMatchObject({
          code: how === 'lost' ? 'NODE_UNREACHABLE' : 'INTERRUPTED',
        })
        await Promise.race([
          building,
          until(() => index.asked.slice(seen).includes('/files/gamma-1.0-py3-none-any.whl')),
        ])
        expect(listening()).toHaveLength(1)
        if (how === 'lost') await fleet.close()
        else stop.abort()
        await ended
        await until(() => listening().length === 0)
        free()
        fleet = how === 'lost' ? openFleet(net.rack.nodes, makeContext()) : fleet
      }
      expect(
        version(await ensureEnvironment(await through(), {requirements: 'gamma\n'}, caller(index.secure)), 'gamma'),
      ).toBe('1.0\n')
    },
    LONG,
  )
})
