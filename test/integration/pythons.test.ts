import {execFileSync} from 'node:child_process'
import {mkdir, mkdtemp, readdir, realpath, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, silentReporter, type Context} from '../../src/lib/base/index.ts'
import {ensureEnvironment, openHost, VERSIONS, type Host} from '../../src/lib/host/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {makeWheel} from '../support/package-index.ts'
import {startPythonServer, type PythonServer} from '../support/python-archive.ts'

/** Fetches packages of Debian and uv, on machines that may be busy. */
const LONG = 600_000
let folder: string
let server: PythonServer
const racks: TestLocalRack[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-pythons-'))
  server = await startPythonServer(folder)
  makeWheel(folder, 'alpha', '1.0')
}, LONG)
afterAll(async () => {
  for (const rack of racks) await rack.stop()
  await server?.stop()
  await rm(folder, {recursive: true, force: true})
})

/** A node with environments of its own, that is told this of Pythons. */
async function node(name: string, env: NodeJS.ProcessEnv): Promise<Host> {
  const environments = join(folder, name)
  await mkdir(environments, {mode: 0o700})
  const rack = await startLocalRack({
    nodes: 1,
    environments,
    env: {UV_HTTP_RETRIES: '0', PIP_NO_INDEX: '1', PIP_CONFIG_FILE: '/dev/null', PIP_FIND_LINKS: folder, ...env},
  })
  racks.push(rack)
  return openHost(rack.fleet(), rack.rack.nodes[0] as (typeof rack.rack.nodes)[0], rack.context())
}

function caller(details: string[] = []): Context {
  const reporter = {
    ...silentReporter,
    begin: () => ({...silentReporter.begin('', ''), detail: (text: string) => void details.push(text)}),
  }
  return makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}, reporter})
}

const pythons = async (name: string): Promise<string[]> =>
  (await readdir(join(folder, name, '.uv/pythons')).catch(() => [])).filter((one) => one.startsWith('cpython-3.9.'))

test(
  'a version that the node lacks is installed by uv, once, and environments are made from it',
  async () => {
    const host = await node('lacks', {
      UV_PYTHON_INSTALL_MIRROR: server.mirror,
      UV_PYTHON_DOWNLOADS_JSON_URL: server.known,
    })
    const ask = (python: string): Promise<unknown> => host.call('environment.plan', {requirements: 'alpha\n', python})
    expect(await ask('3.9')).toMatchObject({python: '3.9', by: 'uv', ready: false})
    const details: string[] = []
    const built = await ensureEnvironment(host, {requirements: 'alpha\n', python: '3.9'}, caller(details))
    expect(built).toMatchObject({python: '3.9.2', built: true})
    expect(details).toContain('installing Python 3.9')
    const said = execFileSync(
      join(built.path, 'bin/python'),
      ['-c', 'import alpha, sys; print(alpha.version, sys.version.split()[0], sys.prefix)'],
      {encoding: 'utf8'},
    )
    expect(said.trim()).toBe(`1.0 3.9.2 ${built.path}`)
    expect(await realpath(join(built.path, 'bin/python'))).toMatch(
      new RegExp(`^${folder}/lacks/\\.uv/pythons/cpython-3\\.9\\.2-linux-`),
    )
    expect(await ask('3.9')).toMatchObject({hash: built.hash, python: '3.9.2', by: 'flexrack', ready: true})
    // A range takes what is there; another environment asks for nothing.
    const asked = server.asked.length
    expect(await ensureEnvironment(host, {requirements: '', python: '>=3.8,<3.10'}, caller())).toMatchObject({
      python: '3.9.2',
    })
    expect(await VERSIONS.choose(host, {requirements: 'alpha\n', python: '3.9'}, caller())).toBe('alpha==1.0\n')
    expect(server.asked).toHaveLength(asked)
    // With the last environment it goes.
    await host.call('environment.remove', {})
    expect(await pythons('lacks')).toEqual([])
  },
  LONG,
)

test(
  'an archive with another hash than uv knows, one that nobody has and one that cannot be reached are told apart, and leave nothing',
  async () => {
    const host = await node('wrong', {
      UV_PYTHON_INSTALL_MIRROR: server.mirror,
      UV_PYTHON_DOWNLOADS_JSON_URL: server.other,
    })
    await expect(ensureEnvironment(host, {requirements: 'alpha\n', python: '3.9'}, caller())).rejects.toMatchObject({
      code: 'ENVIRONMENT_FAILED',
      message: expect.stringMatching(/cpython-3\.9\.2-\S+ has another content than uv knows of it/),
    })
    await expect(ensureEnvironment(host, {requirements: 'alpha\n', python: '3.8'}, caller())).rejects.toMatchObject({
      code: 'NODE_UNFIT',
      message: expect.stringContaining('there is no python3.8 on this node, and uv knows none that it could install'),
    })
    const away = await node('away', {
      UV_PYTHON_INSTALL_MIRROR: 'http://127.0.0.1:1',
      UV_PYTHON_DOWNLOADS_JSON_URL: server.known,
    })
    await expect(ensureEnvironment(away, {requirements: '', python: '3.9'}, caller())).rejects.toMatchObject({
      code: 'ENVIRONMENT_FAILED',
      message: expect.stringContaining('where uv would get it from cannot be reached from this node'),
    })
    for (const name of ['wrong', 'away'])
      expect([
        await pythons(name),
        (await readdir(join(folder, name))).filter((one) => /^\.?[0-9a-f]{16}/.test(one)),
      ]).toEqual([[], []])
  },
  LONG,
)

test(
  'through the client it comes from where the client has it, and from nowhere that nobody named',
  async () => {
    const direct = await node('behind', {UV_PYTHON_DOWNLOADS_JSON_URL: server.known})
    const host = {...direct, network: {way: 'through-client', hosts: []}} as Host
    const here = (mirror: string): Context =>
      makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home'), UV_PYTHON_INSTALL_MIRROR: mirror}})
    const asked = server.asked.length
    await expect(
      ensureEnvironment(host, {requirements: '', python: '3.9'}, here('https://other.invalid')),
    ).rejects.toMatchObject({
      code: 'ENVIRONMENT_FAILED',
      message: expect.stringContaining('this machine does not reach other.invalid:443 either'),
    })
    expect(await ensureEnvironment(host, {requirements: '', python: '3.9'}, here(server.mirror))).toMatchObject({
      python: '3.9.2',
      built: true,
    })
    expect(server.asked.slice(asked)).toHaveLength(1)
  },
  LONG,
)

test(
  'the head and the sweeps take a Python that their locks are for, whatever the node runs',
  async () => {
    const host = await node('plain', {})
    const own = (await host.call('environment.plan', {requirements: ''})) as {hash: string}
    expect(await host.call('environment.plan', {requirements: '', python: '>=3.10'})).toMatchObject({
      hash: own.hash,
      by: 'node',
    })
  },
  LONG,
)
