import {execFileSync} from 'node:child_process'
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Context} from '../../src/lib/base/index.ts'
import {openHost, type Host} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/types.ts'
import {planWorkspace, upWorkspace} from '../../src/lib/workspace/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {throughJson} from '../support/through-json.ts'

/** Fetches a build backend, on machines that may be busy. */
const LONG = 600_000
const PYPROJECT = `[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "Some_Digits"
version = "1.0"
scripts = {digits-say = "digits.say:main"}
`
let rack: TestLocalRack
let host: Host
let folder: string
let context: Context
let manifest: Manifest

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-install-'))
  const environments = join(folder, 'environments')
  await mkdir(environments, {mode: 0o700})
  rack = await startLocalRack({nodes: 1, environments})
  host = await openHost(rack.fleet(), rack.rack.nodes[0] as (typeof rack.rack.nodes)[0], rack.context())
  context = rack.context()
  await write('pyproject.toml', PYPROJECT)
  await write('src/digits/__init__.py', '')
  await write('src/digits/say.py', "def main(): print('one')\n")
  const project = join(folder, 'project')
  manifest = {
    path: join(project, 'flexrack.yaml'),
    folder: project,
    name: 'digits',
    workspace: {python: 'pyproject.toml', exclude: [], forward: [], env: {}},
    tracking: {experiment: 'digits'},
    endpoints: {},
  }
}, LONG)
afterAll(async () => {
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, 'project', path)), {recursive: true})
  await writeFile(join(folder, 'project', path), text)
}

async function up(): Promise<{environment: string; code: string}> {
  const [{environment, codePath} = {environment: undefined, codePath: ''}] = [
    ...(await upWorkspace([host], manifest, context)).values(),
  ]
  return {environment: environment?.path ?? '', code: codePath}
}

const say = (environment: string, program = 'digits-say'): string =>
  execFileSync(join(environment, 'bin', program), {cwd: '/', encoding: 'utf8'}).trim()

test(
  'a project with a build system is installed, editable, after its code has come; its programs are there',
  async () => {
    const {steps} = throughJson((await planWorkspace([host], manifest, context)).plan)
    expect(steps.map(({id, needs}) => [id, needs])).toEqual([
      ['sync:node-1', []],
      ['environment:node-1', ['sync:node-1']],
    ])
    const {environment} = await up()
    expect(say(environment)).toBe('one')
    expect((await planWorkspace([host], manifest, context)).plan.steps).toEqual([])

    // Code alone: the same environment, which has the new code.
    await write('src/digits/say.py', "def main(): print('two')\n")
    expect((await planWorkspace([host], manifest, context)).plan.steps.map(({kind}) => kind)).toEqual([
      'workspace.sync',
    ])
    expect((await up()).environment).toBe(environment)
    expect(say(environment)).toBe('two')
  },
  LONG,
)

test(
  'is installed anew where its metadata or its packages change, and what runs keeps what it had',
  async () => {
    const before = (await up()).environment
    await write(
      'pyproject.toml',
      PYPROJECT.replace('{digits-say = "digits.say:main"}', '{digits-tell = "more.tell:main"}'),
    )
    await write('src/more/__init__.py', '')
    await write('src/more/tell.py', "def main(): print('more')\n")
    const {environment, code} = await up()
    expect(environment).not.toBe(before)
    expect([say(environment, 'digits-tell'), say(before)]).toEqual(['more', 'two'])
    expect(() => say(environment)).toThrow()
    expect((await planWorkspace([host], manifest, context)).plan.steps).toEqual([])
    // The build has left its metadata among the code, which no sync takes for a change.
    expect(
      await readFile(join(code, 'src/Some_Digits.egg-info/PKG-INFO'), 'utf8').catch(() =>
        readFile(join(code, 'src/some_digits.egg-info/PKG-INFO'), 'utf8'),
      ),
    ).toContain('Version: 1.0')
  },
  LONG,
)

test(
  'whose build fails is told as such, and one without a build system is not installed',
  async () => {
    const said = await readFile(join(folder, 'project/pyproject.toml'), 'utf8')
    await write('setup.py', 'raise SystemExit("this project does not want to be built")\n')
    await expect(up()).rejects.toMatchObject({
      code: 'ENVIRONMENT_FAILED',
      message: 'node-1: some-digits, the project itself, could not be installed by its build system',
    })
    await rm(join(folder, 'project/setup.py'))
    await write('pyproject.toml', said.replace(/^\[build-system\][^[]*/, '').replace(/^scripts.*\n/m, ''))
    const {environment} = await up()
    expect(() => say(environment, 'digits-tell')).toThrow()
  },
  LONG,
)
