import {mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, beforeEach, expect, it} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {Manifest} from '../../../src/lib/manifest/types.ts'
import {executePlan} from '../../../src/lib/plan/index.ts'
import {PROJECT_LOCK, ProjectFiles} from '../../../src/lib/workspace/index.ts'
import {throughJson} from '../../support/through-json.ts'

const PINS = 'six==1.16.0 \\\n    --hash=sha256:00\n'
let folder: string
let manifest: Manifest
const context = makeContext()

/** A node with this Python, which resolves whatever it is asked. */
function node(name: string, python: string, asked: unknown[] = []): Host {
  const call = async (verb: string, input: unknown): Promise<unknown> => {
    if (verb === 'environment.plan') return {hash: 'h', path: '/e', ready: false, python}
    asked.push(input)
    return {pins: PINS}
  }
  return {node: name, call} as unknown as Host
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-lock-'))
  manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'p',
    workspace: {python: 'requirements.txt', exclude: [], forward: [], env: {}},
    tracking: {experiment: 'p'},
    endpoints: {},
  }
})

beforeEach(async () => {
  await rm(join(folder, 'flexrack.lock'), {force: true})
  await writeFile(join(folder, 'requirements.txt'), '--extra-index-url https://more.example/simple\nsix\n')
})

afterAll(() => rm(folder, {recursive: true}))

const read = (): ReturnType<ProjectFiles['requirements']> => new ProjectFiles().requirements(folder, 'requirements.txt')

it('is made for the oldest Python of the nodes, by a plan that was read back, and is what nodes then install', async () => {
  const asked: unknown[] = []
  const hosts = [node('a', '3.12.1', asked), node('b', '3.9.20')]
  const plan = throughJson(await PROJECT_LOCK.plan(hosts, manifest, context))
  const [outcome] = await executePlan(
    plan,
    PROJECT_LOCK.handlers,
    {host: (name) => hosts.find((one) => one.node === name) as Host, context},
    context,
  )
  expect(outcome?.value).toEqual({file: join(folder, 'flexrack.lock'), packages: 1, python: '3.9', node: 'a'})
  expect(asked).toMatchObject([
    {universal: '3.9', requirements: '--extra-index-url https://more.example/simple\nsix\n'},
  ])
  expect(await read()).toEqual({
    requirements: `--extra-index-url https://more.example/simple\n${PINS}`,
    constraints: '',
    origins: ['flexrack.lock:2', 'flexrack.lock:3', 'flexrack.lock:4'],
  })
  expect(await PROJECT_LOCK.stale(folder, 'requirements.txt')).toBeUndefined()
})

it('is refused once the requirements say something else, and not for a comment', async () => {
  const hosts = [node('a', '3.11.2')]
  await executePlan(
    await PROJECT_LOCK.plan(hosts, manifest, context),
    PROJECT_LOCK.handlers,
    {host: () => hosts[0] as Host, context},
    context,
  )
  const before = await readFile(join(folder, 'requirements.txt'), 'utf8')
  await writeFile(join(folder, 'requirements.txt'), `# a comment\n${before}`)
  expect((await read()).origins).toHaveLength(3)
  await writeFile(join(folder, 'requirements.txt'), `${before}numpy\n`)
  await expect(read()).rejects.toMatchObject({
    code: 'CHECK_FAILED',
    message: 'flexrack.lock does not belong to requirements.txt any more',
    hint: 'flexrack lock',
  })
  expect(await PROJECT_LOCK.stale(folder, 'requirements.txt')).toEqual({
    message: 'flexrack.lock does not belong to requirements.txt any more',
    fix: 'flexrack lock',
  })
})

it('is refused for an older Python than it is for', async () => {
  const hosts = [node('a', '3.12')]
  const named = {...manifest, workspace: {...manifest.workspace, pythonVersion: '3.12'}}
  await executePlan(
    await PROJECT_LOCK.plan(hosts, named, context),
    PROJECT_LOCK.handlers,
    {host: () => hosts[0] as Host, context},
    context,
  )
  expect(await readFile(join(folder, 'flexrack.lock'), 'utf8')).toContain(', for Python 3.12 and newer.')
  expect((await new ProjectFiles().requirements(folder, 'requirements.txt', '3.12')).origins).toHaveLength(3)
  const message = 'flexrack.lock is for Python 3.12 and newer, and workspace.python asks for 3.11'
  await expect(new ProjectFiles().requirements(folder, 'requirements.txt', '3.11')).rejects.toMatchObject({
    code: 'CHECK_FAILED',
    message,
    hint: 'flexrack lock',
  })
  expect(await PROJECT_LOCK.stale(folder, 'requirements.txt', '3.11')).toEqual({message, fix: 'flexrack lock'})
  expect(await readdir(folder)).toEqual(['flexrack.lock', 'requirements.txt'])
})

it('is not planned for a project without requirements', async () => {
  const {python: _, ...workspace} = manifest.workspace
  await expect(PROJECT_LOCK.plan([node('a', '3.11.2')], {...manifest, workspace}, context)).rejects.toMatchObject({
    code: 'USAGE',
  })
})
