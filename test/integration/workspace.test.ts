import {mkdir, mkdtemp, readdir, readFile, rm, symlink, unlink, writeFile, chmod, stat} from 'node:fs/promises'
import {existsSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Context} from '../../src/lib/base/index.ts'
import {openHost, type Host} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/types.ts'
import {executePlan, throwIfFailed} from '../../src/lib/plan/index.ts'
import {
  END_HANDLERS,
  findWorkspaces,
  planEnd,
  PULL,
  planWorkspace,
  upWorkspace,
  workspaceScript,
} from '../../src/lib/workspace/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'

let rack: TestLocalRack
let context: Context
let hosts: Host[]
let folder: string

beforeAll(async () => {
  rack = await startLocalRack({nodes: 2, environments: await sharedEnvironments()})
  context = rack.context()
  const fleet = rack.fleet()
  hosts = await Promise.all(rack.rack.nodes.map((node) => openHost(fleet, node, context)))
  folder = await mkdtemp(join(tmpdir(), 'flexrack-project-'))
})

afterAll(async () => {
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

function project(name: string, parts: Partial<Manifest['workspace']> = {}): Manifest {
  return {
    path: join(folder, name, 'flexrack.yaml'),
    folder: join(folder, name),
    name,
    workspace: {exclude: [], forward: [], env: {}, ...parts},
    tracking: {experiment: name},
    endpoints: {},
  }
}

async function write(name: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, name, path, '..'), {recursive: true})
    await writeFile(join(folder, name, path), text)
  }
}

const first = (): Host => hosts[0] as Host

test('brings code and environment to every node, does nothing the second time, and only what changed the third time', async () => {
  await write('alpha', {
    'train.py': 'import six\nprint(six.__version__)\n',
    'pkg/a.py': 'A',
    'pkg/b.py': 'B',
    'requirements.txt': 'six==1.16.0\n',
  })
  const manifest = project('alpha', {python: 'requirements.txt'})
  const up = await upWorkspace(hosts, manifest, context)
  expect([...up.keys()]).toEqual(['node-1', 'node-2'])
  const [workspace] = await findWorkspaces(first(), 'alpha', context)
  if (!workspace) throw new Error('no workspace')
  const {script, env} = workspaceScript(workspace, {GREETING: 'hello'}, [
    'sh',
    '-c',
    'python train.py && echo $GREETING',
  ])
  expect(await first().shell.run(script, {env})).toBe('1.16.0\nhello\n')

  expect((await planWorkspace(hosts, manifest, context)).plan.steps).toEqual([])

  await write('alpha', {'pkg/a.py': 'AA'})
  await unlink(join(folder, 'alpha/pkg/b.py'))
  const {plan} = await planWorkspace(hosts, manifest, context)
  expect(plan.steps.map((step) => [step.id, step.input])).toMatchObject([
    ['sync:node-1', {put: ['pkg/a.py'], remove: ['pkg/b.py'], forget: [], bytes: 2}],
    ['sync:node-2', {put: ['pkg/a.py'], remove: ['pkg/b.py'], forget: [], bytes: 2}],
  ])
  await upWorkspace(hosts, manifest, context)
  expect(await first().shell.run(`cat ${workspace.code}/pkg/a.py; ls ${workspace.code}/pkg`)).toBe('AAa.py\n')
})

test('keeps what was made or edited on the node, puts back what was removed there, and honours patterns', async () => {
  await write('beta', {
    '.gitignore': '*.pt\nout/\n',
    'a.py': 'a',
    'b.py': 'b',
    'local.pt': 'stays here',
    'sub/.gitignore': '!keep.pt\n',
    'sub/keep.pt': 'goes',
    'secret.txt': 's',
  })
  const manifest = project('beta', {exclude: ['secret.txt']})
  await upWorkspace([first()], manifest, context)
  const [{code} = {code: ''}] = await findWorkspaces(first(), 'beta', context)
  await first().shell.run(
    `cd ${code} && mkdir -p out && echo model >out/m.pt && echo mine >notes && echo changed >a.py && rm b.py`,
  )
  await upWorkspace([first()], manifest, context)
  expect(await first().shell.run(`cd ${code} && find . -type f | LC_ALL=C sort | xargs tail -n +1`))
    .toMatchInlineSnapshot(`
    "==> ./.gitignore <==
    *.pt
    out/

    ==> ./a.py <==
    changed

    ==> ./b.py <==
    b
    ==> ./notes <==
    mine

    ==> ./out/m.pt <==
    model

    ==> ./sub/.gitignore <==
    !keep.pt

    ==> ./sub/keep.pt <==
    goes"
  `)
})

test('what both sides have changed is a conflict with two ways out, and pull brings what only the node has', async () => {
  await write('pull', {'.gitignore': '*.pt\n', 'a.py': 'a', 'both.py': '1', 'sub/c.py': 'c'})
  const manifest = project('pull')
  await upWorkspace([first()], manifest, context)
  const [{code} = {code: ''}] = await findWorkspaces(first(), 'pull', context)
  await first().shell.run(
    `cd ${code} && printf there >a.py && printf there >both.py && printf '{}' >sub/new.ipynb && printf w >w.pt && rm sub/c.py && chmod +x sub/new.ipynb`,
  )
  await write('pull', {'both.py': 'here'})
  const host = (): Host => first()
  await expect(upWorkspace([first()], manifest, context)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'both.py was edited on node-1, and changed here, too',
    hint: expect.stringContaining('--overwrite'),
  })
  const plan = await PULL.plan(first(), manifest, {paths: [], overwrite: false}, context)
  expect(plan.steps[0]?.input).toMatchObject({
    files: [
      {path: 'a.py', there: 'edited', here: 'unchanged', what: 'bring'},
      {path: 'both.py', what: 'conflict'},
      {path: 'sub/c.py', there: 'removed', what: 'left'},
      {path: 'sub/new.ipynb', there: 'new', what: 'bring'},
    ],
    skipped: [{path: 'w.pt', why: 'excluded'}],
  })
  const outcomes = await executePlan(plan, PULL.handlers, {host, context}, context)
  expect(outcomes[0]?.error).toMatchObject({code: 'CONFLICT', details: {paths: ['both.py']}})
  const here = (path: string): Promise<string> => readFile(join(folder, 'pull', path), 'utf8')
  expect(await Promise.all(['a.py', 'both.py', 'sub/c.py', 'sub/new.ipynb'].map(here))).toEqual([
    'there',
    'here',
    'c',
    '{}',
  ])
  expect((await stat(join(folder, 'pull/sub/new.ipynb'))).mode & 0o100).toBe(0o100)
  const beside = {paths: ['both.py'], overwrite: false, to: join(folder, 'theirs')}
  throwIfFailed(
    await executePlan(await PULL.plan(first(), manifest, beside, context), PULL.handlers, {host, context}, context),
  )
  expect([await readFile(join(beside.to, 'both.py'), 'utf8'), await here('both.py')]).toEqual(['there', 'here'])
  await expect(PULL.plan(first(), manifest, beside, context)).rejects.toMatchObject({code: 'CONFLICT'})
  const named = await PULL.plan(first(), manifest, {paths: ['both.py', 'w.pt'], overwrite: true}, context)
  throwIfFailed(await executePlan(named, PULL.handlers, {host, context}, context))
  expect(await Promise.all(['both.py', 'w.pt'].map(here))).toEqual(['there', 'w'])
  await upWorkspace([first()], manifest, context)
  expect((await planWorkspace([first()], manifest, context)).plan.steps).toEqual([])
  expect((await readdir(join(folder, 'pull'))).filter((name) => name.startsWith('.flexrack'))).toEqual([])
  await expect(PULL.plan(first(), manifest, {paths: ['nowhere'], overwrite: false}, context)).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
})

test('leaves a file to the node that the patterns leave out since', async () => {
  await write('gamma', {'data/set.bin': 'numbers', 'a.py': 'a'})
  await upWorkspace([first()], project('gamma'), context)
  const {plan} = await planWorkspace([first()], project('gamma', {exclude: ['data/']}), context)
  expect(plan.steps[0]?.input).toMatchObject({remove: [], forget: ['data/set.bin']})
  await upWorkspace([first()], project('gamma', {exclude: ['data/']}), context)
  const [{code} = {code: ''}] = await findWorkspaces(first(), 'gamma', context)
  expect(await first().shell.run(`cat ${code}/data/set.bin`)).toBe('numbers')
})

test('carries executables, links inside, empty folders and odd names', async () => {
  await write('delta', {'run.sh': '#!/bin/sh\n', 'with space/üñí\nnewline': 'odd', 'target.txt': 't'})
  await chmod(join(folder, 'delta/run.sh'), 0o755)
  await mkdir(join(folder, 'delta/empty'), {recursive: true})
  await symlink('target.txt', join(folder, 'delta/link'))
  await symlink(join(folder, 'delta/with space'), join(folder, 'delta/absolute'))
  await upWorkspace([first()], project('delta'), context)
  const [{code} = {code: ''}] = await findWorkspaces(first(), 'delta', context)
  expect(
    await first().shell.run(
      `cd ${code} && test -x run.sh && test ! -x target.txt && test -d empty && readlink link absolute && cat "absolute/üñí\nnewline"`,
    ),
  ).toBe('target.txt\nwith space\nodd')
  await chmod(join(folder, 'delta/run.sh'), 0o644)
  await upWorkspace([first()], project('delta'), context)
  expect((await first().shell.exec(`test -x ${code}/run.sh`)).status).toBe(1)
})

test('never writes through a link that stands in the way on the node', async () => {
  await write('epsilon', {'src/a.py': 'a'})
  await upWorkspace([first()], project('epsilon'), context)
  const [{code} = {code: ''}] = await findWorkspaces(first(), 'epsilon', context)
  const outside = await mkdtemp(join(tmpdir(), 'flexrack-outside-'))
  await writeFile(join(outside, 'a.py'), 'precious')
  await first().shell.run(`cd ${code} && rm -r src && ln -s ${outside} src`)
  await write('epsilon', {'src/a.py': 'b'})
  await expect(upWorkspace([first()], project('epsilon'), context)).rejects.toMatchObject({
    code: 'CONFLICT',
    details: {path: 'src'},
  })
  expect(await readFile(join(outside, 'a.py'), 'utf8')).toBe('precious')
  await first().shell.run(`rm ${code}/src`)
  await upWorkspace([first()], project('epsilon'), context)
  expect(await first().shell.run(`cat ${code}/src/a.py`)).toBe('b')
  await rm(outside, {recursive: true})
})

test('two syncs of one workspace at once both end well', async () => {
  const files = Object.fromEntries(Array.from({length: 300}, (_, index) => [`f${index}.py`, `${index}`]))
  await write('zeta', files)
  const other = await openHost(rack.fleet(), rack.rack.nodes[0] as (typeof rack.rack.nodes)[0], context)
  await Promise.all([upWorkspace([first()], project('zeta'), context), upWorkspace([other], project('zeta'), context)])
  expect(
    (await planWorkspace([first()], project('zeta'), context)).plan.steps.filter(
      (step) => step.kind === 'workspace.sync',
    ),
  ).toEqual([])
})

test('an interrupted sync leaves the node as it was, and the next one puts it right', async () => {
  await write('eta', {'a.py': 'old'})
  await upWorkspace([first()], project('eta'), context)
  await write('eta', {'a.py': 'new', 'big.bin': 'x'.repeat(40 << 20)})
  const stop = new AbortController()
  const progress = {detail() {}, amount: () => stop.abort(), done() {}, fail() {}}
  const interrupted = rack.context({signal: stop.signal, reporter: {begin: () => progress, note() {}, warn() {}}})
  await expect(upWorkspace([first()], project('eta'), interrupted)).rejects.toMatchObject({code: 'INTERRUPTED'})
  const [{code} = {code: ''}] = await findWorkspaces(first(), 'eta', context)
  expect(await first().shell.run(`cat ${code}/a.py; ls ${code}`)).toBe('olda.py\n')
  await upWorkspace([first()], project('eta'), context)
  expect(await first().shell.run(`cat ${code}/a.py; ls ${code}`)).toBe('newa.py\nbig.bin\n')
})

test('a file that changes while it is sent is named, and the node stays as it was', async () => {
  await write('kappa', {'a.py': 'old'})
  await upWorkspace([first()], project('kappa'), context)
  await write('kappa', {'a.py': 'new', 'b.log': 'one line\n'})
  const prepared = await planWorkspace([first()], project('kappa'), context)
  await write('kappa', {'b.log': 'one line\nand another\n'})
  await expect(upWorkspace([first()], project('kappa'), context, {prepared})).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('b.log'),
    hint: expect.stringContaining('exclude'),
  })
  const [{code} = {code: ''}] = await findWorkspaces(first(), 'kappa', context)
  expect(await first().shell.run(`cat ${code}/a.py; ls ${code}`)).toBe('olda.py\n')
})

test('names the line of the requirements that cannot be installed, also in an included file', async () => {
  await write('theta', {
    'requirements.txt': '# ours\n-r more/base.txt\n',
    'more/base.txt': 'six==1.16.0\n\nsix-is-not-there==1.0\n',
  })
  await expect(upWorkspace([first()], project('theta', {python: 'requirements.txt'}), context)).rejects.toMatchObject({
    code: 'ENVIRONMENT_FAILED',
    message: expect.stringContaining('more/base.txt:3'),
    details: {requirement: 'six-is-not-there==1.0', origin: 'more/base.txt:3'},
  })
})

test('stop ends what runs in the workspace, also what has left its session; remove takes only its own folder', async () => {
  await write('iota', {'a.py': 'a'})
  await upWorkspace(hosts, project('iota'), context)
  const [workspace] = await findWorkspaces(first(), 'iota', context)
  if (!workspace) throw new Error('no workspace')
  const {script, env} = workspaceScript(workspace, {}, [
    'sh',
    '-c',
    'trap "" TERM; setsid sleep 600 >/dev/null 2>&1 </dev/null & setsid sleep 601 >/dev/null 2>&1 </dev/null & echo $!',
  ])
  const pid = Number(await first().shell.run(script, {env}))
  const [other] = await findWorkspaces(hosts[1] as Host, 'iota', context)
  expect(other?.processes).toEqual([])
  const ends = {host: (node: string) => hosts.find((one) => one.node === node) as Host, context}
  const {plan} = await planEnd(hosts, {project: 'iota', remove: false, environments: false, grace: 0.2}, context)
  expect(plan.steps.map((step) => step.id)).toEqual(['stop:node-1'])
  const outcomes = await executePlan(plan, END_HANDLERS, ends, context)
  throwIfFailed(outcomes)
  expect(existsSync(`/proc/${pid}/exe`)).toBe(false)
  expect((await findWorkspaces(first(), 'iota', context))[0]?.processes).toEqual([])

  const removal = await planEnd(hosts, {project: 'iota', remove: true, environments: false, grace: 1}, context)
  throwIfFailed(await executePlan(removal.plan, END_HANDLERS, ends, context))
  expect(await findWorkspaces(first(), 'iota', context)).toEqual([])
  expect(
    (await planEnd(hosts, {project: 'iota', remove: true, environments: false, grace: 1}, context)).plan.steps,
  ).toEqual([])
  expect((await stat(join(workspace.path, '..', 'alpha'))).isDirectory()).toBe(true)
})
