import {existsSync} from 'node:fs'
import {lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, silentReporter, type Context} from '../../src/lib/base/index.ts'
import {ensureEnvironment, openHost, type Environment, type Host} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/types.ts'
import {executePlan, throwIfFailed} from '../../src/lib/plan/index.ts'
import {PROJECT_LOCK, planWorkspace, upWorkspace} from '../../src/lib/workspace/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {throughJson} from '../support/through-json.ts'

const NO_INDEX = {PIP_NO_INDEX: '1', PIP_CONFIG_FILE: '/dev/null', PIP_FIND_LINKS: undefined}
/** Fetches packages, on machines that may be busy. */
const LONG = 600_000
let folder: string
let old: Host
let newer: Host
const racks: TestLocalRack[] = []

/** Package alpha in a version and a folder, where pip and uv find it. */
const WHEEL = `import sys, zipfile
folder, version = sys.argv[1:]
with zipfile.ZipFile(f"{folder}/alpha-{version}-py3-none-any.whl", "w") as archive:
    archive.writestr("alpha.py", f"version = '{version}'")
    info = f"alpha-{version}.dist-info"
    archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: alpha\\nVersion: {version}\\n")
    archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    archive.writestr(f"{info}/RECORD", "")
`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-uv-'))
  execFileSync('python3', ['-c', WHEEL, folder, '1.0'])
  await mkdir(join(folder, 'newer'))
  execFileSync('python3', ['-c', WHEEL, join(folder, 'newer'), '2.0'])
})

afterAll(async () => {
  for (const rack of racks) await rack.stop()
  await rm(folder, {recursive: true, force: true})
})

/** A node with environments of its own, on which no uv is. `env`: what the node is told of package indexes. */
async function node(name: string, env: NodeJS.ProcessEnv): Promise<Host> {
  const environments = join(folder, name)
  await mkdir(environments, {mode: 0o700})
  const rack = await startLocalRack({nodes: 1, environments, env})
  racks.push(rack)
  return openHost(rack.fleet(), rack.rack.nodes[0] as (typeof rack.rack.nodes)[0], rack.context())
}

/** A command line with caches of its own. */
function caller(name: string, env: NodeJS.ProcessEnv, warnings: string[] = []): Context {
  return makeContext({
    env: {...process.env, ...env, FLEXRACK_HOME: join(folder, `home-${name}`)},
    reporter: {...silentReporter, warn: (text) => void warnings.push(text)},
  })
}

const builtBy = async ({path}: Environment): Promise<string> =>
  (JSON.parse(await readFile(join(path, '.flexrack-ready.json'), 'utf8')) as {by: string}).by
const mode = async (path: string): Promise<number> => (await lstat(path)).mode & 0o777

test(
  'a node that reaches no index gets uv from here, and keeps one cache with files that environments share',
  async () => {
    const host = (old = await node('sent', {...NO_INDEX, PIP_FIND_LINKS: folder}))
    const here = caller('sent', {})
    const warnings: string[] = []
    const built = await ensureEnvironment(
      host,
      {requirements: 'alpha\n'},
      {...here, reporter: {...silentReporter, warn: (text) => void warnings.push(text)}},
    )
    expect(warnings).toEqual([])
    expect(await builtBy(built)).toMatch(/^uv-[\d.]+-/)
    expect([await mode(join(folder, 'sent/.uv')), await mode(join(folder, 'sent/.uv/cache'))]).toEqual([0o700, 0o700])
    expect((await readdir(join(folder, 'home-sent/cache/uv'))).map((name) => name.replace(/[\d.]+/, 'V'))).toEqual([
      expect.stringMatching(/^uv-V-\w+\.whl$/),
    ])
    const other = await ensureEnvironment(host, {requirements: 'alpha\n', constraints: 'alpha<2\n'}, here)
    const of = async ({path}: Environment): Promise<number> =>
      (
        await stat(
          execFileSync(`${path}/bin/python`, ['-c', 'import alpha; print(alpha.__file__)'], {encoding: 'utf8'}).trim(),
        )
      ).ino
    expect(await of(other)).toBe(await of(built))
  },
  LONG,
)

test(
  'to nodes that share the folder of environments uv is sent once',
  async () => {
    const environments = join(folder, 'shared')
    await mkdir(environments, {mode: 0o700})
    const rack = await startLocalRack({nodes: 3, environments, env: {...NO_INDEX, PIP_FIND_LINKS: folder}})
    racks.push(rack)
    const fleet = rack.fleet()
    const hosts = await Promise.all(rack.rack.nodes.map((one) => openHost(fleet, one, rack.context())))
    const begun: string[] = []
    const here = caller('sent', {})
    const context = {
      ...here,
      reporter: {
        ...silentReporter,
        begin: (title: string, of?: string) => (begun.push(title), silentReporter.begin(title, of)),
      },
    }
    const built = await Promise.all(hosts.map((host) => ensureEnvironment(host, {requirements: 'alpha\n'}, context)))
    expect(built.filter((one) => one.built)).toHaveLength(1)
    expect(begun.filter((title) => title.startsWith('Send uv'))).toHaveLength(1)
  },
  LONG,
)

test(
  'where this machine reaches no index, the node gets uv from its own',
  async () => {
    const host = (newer = await node('fetched', {PIP_FIND_LINKS: `${folder} ${join(folder, 'newer')}`}))
    const warnings: string[] = []
    const built = await ensureEnvironment(host, {requirements: 'alpha==1.0\n'}, caller('fetched', NO_INDEX, warnings))
    expect(warnings).toEqual([])
    expect(await builtBy(built)).toMatch(/^uv-[\d.]+-/)
    expect(existsSync(join(folder, 'home-fetched/cache/uv/.part'))).toBe(false)
  },
  LONG,
)

test(
  'where nobody gets uv, pip builds, and why is told',
  async () => {
    const host = await node('pip', {...NO_INDEX, PIP_FIND_LINKS: folder})
    const warnings: string[] = []
    const built = await ensureEnvironment(host, {requirements: 'alpha==1.0\n'}, caller('pip', NO_INDEX, warnings))
    expect(await builtBy(built)).toBe('pip')
    expect(warnings).toEqual([
      expect.stringMatching(
        /^node-1: built with pip, which takes longer: this machine could not fetch it \(.*uv==.*\); pip here could not fetch it \(.*uv==.*\)$/,
      ),
    ])
  },
  LONG,
)

test(
  'nodes whose indexes differ get the versions that the first one has chosen',
  async () => {
    const project = join(folder, 'project')
    await mkdir(project)
    await writeFile(join(project, 'requirements.txt'), 'alpha\n')
    const manifest: Manifest = {
      path: join(project, 'flexrack.yaml'),
      folder: project,
      name: 'gang',
      workspace: {python: 'requirements.txt', exclude: [], forward: [], env: {}},
      tracking: {experiment: 'gang'},
      endpoints: {},
    }
    const hosts = [old, {...newer, node: 'node-2'}]
    const up = await upWorkspace(hosts, manifest, caller('gang', {}))
    expect(
      [...up.values()].map(({environment}) =>
        execFileSync(`${environment?.path}/bin/python`, ['-c', 'import alpha; print(alpha.version)'], {
          encoding: 'utf8',
        }),
      ),
    ).toEqual(['1.0\n', '1.0\n'])
    expect((await planWorkspace(hosts, manifest, caller('gang', {}))).plan.steps).toEqual([])
  },
  LONG,
)

test(
  'nodes that had environments with other versions get one with the same, beside the one that they had',
  async () => {
    const project = join(folder, 'apart')
    await mkdir(project)
    await writeFile(join(project, 'requirements.txt'), 'alpha>0\n')
    const manifest: Manifest = {
      path: join(project, 'flexrack.yaml'),
      folder: project,
      name: 'apart',
      workspace: {python: 'requirements.txt', exclude: [], forward: [], env: {}},
      tracking: {experiment: 'apart'},
      endpoints: {},
    }
    const hosts = [old, {...newer, node: 'node-2'}]
    const version = (path = ''): string =>
      execFileSync(`${path}/bin/python`, ['-c', 'import alpha; print(alpha.version)'], {encoding: 'utf8'}).trim()
    const alone: string[] = []
    for (const host of hosts)
      alone.push([...(await upWorkspace([host], manifest, caller('apart', {}))).values()][0]?.environment?.path ?? '')
    expect(alone.map(version)).toEqual(['1.0', '2.0'])
    const plan = throughJson((await planWorkspace(hosts, manifest, caller('apart', {}))).plan)
    expect(plan.steps.map(({node, title}) => [node, title.replace(/[0-9a-f]{16}/, 'H')])).toEqual([
      [
        'node-2',
        expect.stringMatching(
          /^Build the Python environment H \(Python 3\.\d+\.\d+, 1 requirement, with the versions of node-1\)$/,
        ),
      ],
    ])
    const up = [...(await upWorkspace(hosts, manifest, caller('apart', {}))).values()].map(
      ({environment}) => environment?.path ?? '',
    )
    expect(up.map(version)).toEqual(['1.0', '1.0'])
    expect([up[0] === alone[0], up[1] === alone[1], version(alone[1])]).toEqual([true, false, '2.0'])
    expect((await planWorkspace(hosts, manifest, caller('apart', {}))).plan.steps).toEqual([])
  },
  LONG,
)

test(
  'a lock file decides for all nodes, until the requirements change',
  async () => {
    const project = join(folder, 'locked')
    await mkdir(project)
    await writeFile(join(project, 'requirements.txt'), 'alpha\n')
    const manifest: Manifest = {
      path: join(project, 'flexrack.yaml'),
      folder: project,
      name: 'locked',
      workspace: {python: 'requirements.txt', exclude: [], forward: [], env: {}},
      tracking: {experiment: 'locked'},
      endpoints: {},
    }
    const context = caller('locked', {})
    const plan = await PROJECT_LOCK.plan([old], manifest, context)
    const outcomes = await executePlan(plan, PROJECT_LOCK.handlers, {host: () => old, context}, context)
    throwIfFailed(outcomes)
    expect(await readFile(join(project, 'flexrack.lock'), 'utf8')).toMatch(
      /^# Made by `flexrack lock` from requirements\.txt \([0-9a-f]{16}\), for Python 3\.\d+ and newer\. Do not edit\.\nalpha==1\.0 \\\n {4}--hash=sha256:[0-9a-f]{64}\n$/,
    )
    const [workspace] = (await upWorkspace([newer], manifest, context)).values()
    expect(
      execFileSync(`${workspace?.environment?.path}/bin/python`, ['-c', 'import alpha; print(alpha.version)'], {
        encoding: 'utf8',
      }),
    ).toBe('1.0\n')
    await writeFile(join(project, 'requirements.txt'), 'alpha>=1\n')
    await expect(planWorkspace([newer], manifest, context)).rejects.toMatchObject({
      code: 'CHECK_FAILED',
      hint: 'flexrack lock',
    })
  },
  LONG,
)

test(
  "a project's uv.lock is installed exactly, and a file of another content is not",
  async () => {
    const project = join(folder, 'uv-project')
    await mkdir(project)
    const wheel = createHash('sha256')
      .update(await readFile(join(folder, 'alpha-1.0-py3-none-any.whl')))
      .digest('hex')
    const locked = (hash: string): Promise<void> =>
      writeFile(
        join(project, 'uv.lock'),
        `version = 1
requires-python = ">=3.9"

[[package]]
name = "digits"
source = { virtual = "." }
dependencies = [{ name = "alpha" }]

[package.metadata]
requires-dist = [{ name = "alpha", specifier = ">=1" }]

[[package]]
name = "alpha"
version = "1.0"
source = { registry = "https://pypi.org/simple" }
wheels = [{ url = "https://files.example/alpha-1.0-py3-none-any.whl", hash = "sha256:${hash}" }]
`,
      )
    await writeFile(join(project, 'pyproject.toml'), '[project]\nname = "digits"\ndependencies = ["alpha>=1"]\n')
    const manifest: Manifest = {
      path: join(project, 'flexrack.yaml'),
      folder: project,
      name: 'uv-project',
      workspace: {python: 'pyproject.toml', exclude: [], forward: [], env: {}},
      tracking: {experiment: 'uv-project'},
      endpoints: {},
    }
    const context = caller('uv-project', {})
    await locked(wheel)
    const [workspace] = (await upWorkspace([newer], manifest, context)).values() // whose newest alpha is 2.0
    expect(
      execFileSync(`${workspace?.environment?.path}/bin/python`, ['-c', 'import alpha; print(alpha.version)'], {
        encoding: 'utf8',
      }),
    ).toBe('1.0\n')
    await locked('0'.repeat(64))
    await expect(upWorkspace([newer], manifest, context)).rejects.toMatchObject({
      code: 'ENVIRONMENT_FAILED',
      details: expect.objectContaining({requirement: expect.stringContaining('alpha') as string}) as object,
    })
  },
  LONG,
)
