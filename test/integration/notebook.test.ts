import {execFileSync} from 'node:child_process'
import {mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import type {Context} from '../../src/lib/base/index.ts'
import {openHost, serviceStatus, type Host} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import {findNotebooks, planNotebook, reachNotebook, startNotebook, type Notebook} from '../../src/lib/notebook/index.ts'
import type {Fleet} from '../../src/lib/ssh/index.ts'
import {findWorkspaces, upWorkspace, type PlacedWorkspace} from '../../src/lib/workspace/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {ask, KernelSession, startKernel, type JupyterServer} from '../support/kernel.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'

let rack: TestLocalRack
let context: Context
let host: Host
let folder: string
let workspace: PlacedWorkspace
const abort = new AbortController()

beforeAll(async () => {
  rack = await startLocalRack({nodes: 1, environments: await sharedEnvironments()})
  context = rack.context()
  host = await openHost(rack.fleet(), rack.rack.nodes[0]!, context)
  folder = await mkdtemp(join(tmpdir(), 'flexrack-notebook-'))
  const manifest: Manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'digits',
    workspace: {exclude: [], forward: [], env: {}},
    tracking: {experiment: 'digits'},
    endpoints: {},
  }
  await mkdir(folder, {recursive: true})
  await writeFile(join(folder, 'helper.py'), 'ANSWER = 42\n')
  await upWorkspace([host], manifest, context)
  workspace = (await findWorkspaces(host, 'digits', context))[0]!
})

afterAll(async () => {
  abort.abort()
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

async function start(idle: number): Promise<Notebook> {
  return startNotebook(
    planNotebook({
      host,
      workspace,
      env: {GREETING: 'hello'},
      isolate: undefined,
      volumes: [],
      idle,
      lasts: null,
      gpus: null,
    }),
    host,
    context,
  )
}

/** Forwards over connections of their own, until the test is over; `cut` ends the connection under it. */
async function reach(): Promise<JupyterServer & {cut: () => Promise<void>; events: string[]}> {
  let fleet: Fleet = rack.fleet()
  const events: string[] = []
  const link = await new Promise<{url: string; port: number}>((resolve, reject) => {
    const connect = (): ReturnType<Fleet['shell']> => (fleet = rack.fleet()).shell('node-1')
    reachNotebook(
      host,
      'digits',
      {port: undefined, connect},
      resolve,
      (event) => events.push(event.event),
      rack.context({signal: abort.signal}),
    ).catch(reject)
  })
  const token = new URL(link.url).searchParams.get('token')!
  expect(token).toMatch(/^[0-9a-f]{48}$/)
  return {port: link.port, token, events, cut: () => fleet.close()}
}

const look = async (): Promise<Notebook> => (await findNotebooks(host, 'digits', context))[0]!

test('a notebook is reached by who has the token; it runs the Python of the project, which stays as it was', async () => {
  const python = `${workspace.environment!.path}/bin/python`
  const listed = (): string =>
    execFileSync('find', [workspace.environment!.path, '-name', '*.dist-info'], {encoding: 'utf8'})
  const before = listed()
  expect(await start(0)).toMatchObject({state: 'ready', node: 'node-1', endsAt: null, code: workspace.code})
  const server = await reach()
  expect((await ask(server, '/api/status', {token: server.token})).status).toBe(200)
  expect((await ask(server, '/api/status')).status).toBe(403)
  expect((await ask(server, '/api/status', {token: server.token, host: 'evil.example'})).status).toBe(403)

  const kernel = await startKernel(server)
  const session = await KernelSession.open(server, kernel)
  const said = JSON.parse(
    await session.output(
      [
        'import json, os, sys, helper, importlib.metadata as m',
        'print(json.dumps({"prefix": sys.prefix, "executable": sys.executable, "answer": helper.ANSWER, "greeting": os.environ["GREETING"], "environ": dict(os.environ), "which": __import__("shutil").which("python")}))',
      ].join('\n'),
    ),
  ) as {
    prefix: string
    executable: string
    answer: number
    greeting: string
    environ: Record<string, string>
    which: string
  }
  expect(said).toMatchObject({
    prefix: workspace.environment!.path,
    executable: python,
    answer: 42,
    greeting: 'hello',
    which: python,
  })
  expect(Object.values(said.environ).filter((value) => value.includes(server.token))).toEqual([])
  // What a forked process prints comes through a socket in a folder of ours, too: nobody else reaches a kernel by a
  // port.
  expect(
    await session.output(
      'import os\nif os.fork() == 0: print("forked", flush=True); os._exit(0)\nos.wait(); import time; time.sleep(1)',
    ),
  ).toContain('forked')
  const pid = Number(await session.output('print(os.getpid())'))
  const own = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  )
  const listening = (await readFile('/proc/net/tcp', 'utf8'))
    .split('\n')
    .filter((line) => / 0A /.test(line))
    .map((line) => `socket:[${line.trim().split(/\s+/)[9]}]`)
  expect(own.filter((one) => listening.includes(one))).toEqual([])
  expect(listed()).toBe(before)
  expect(before).not.toContain('ipykernel')
  await nobodyReads(server.token)
  session.close()
})

test('after the link was away it is at the same port, and no line of a cell is missing; a killed server takes its kernels along and is back', async () => {
  await start(0)
  const server = await reach()
  const kernel = await startKernel(server)
  const first = await KernelSession.open(server, kernel)
  await first.output('import os, time; kept = "variable"; print(os.getpid())')
  const pid = Number(first.printed)
  const begin = first.printed.length
  first.run('for i in range(40): print(i, flush=True); time.sleep(0.1)')
  await first.until(() => first.printed.slice(begin).includes('3\n'))
  await server.cut()
  await first.until(() => false).catch(() => {})
  await vi.waitFor(() => expect(server.events).toContain('back'), {timeout: 60_000, interval: 50})
  const second = await KernelSession.open(server, kernel, first.session)
  await second.until(() => second.printed.includes('39\n'))
  const lines = `${first.printed.slice(begin)}${second.printed}`.trim().split('\n').map(Number)
  expect([...new Set(lines)].toSorted((one, other) => one - other)).toEqual(
    Array.from({length: 40}, (_, index) => index),
  )
  expect(await second.output('print(kept)')).toBe('variable\n')

  const {pid: keeper} = await serviceStatus(host, 'notebook-digits')
  const jupyter = Number((await readFile(`/proc/${keeper}/task/${keeper}/children`, 'utf8')).trim().split(' ')[0])
  process.kill(jupyter, 'SIGKILL')
  await vi.waitFor(
    async () => expect(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => 'gone')).toMatch(/^gone$|\) Z /),
    {timeout: 60_000, interval: 50},
  )
  await vi.waitFor(async () => expect((await ask(server, '/api/status', {token: server.token})).status).toBe(200), {
    timeout: 120_000,
    interval: 200,
  })
  expect((await look()).ended.at(-1)).toMatchObject({what: 'the server and its kernels'})
})

test('what does nothing is ended, and it is told when and why; a busy kernel goes on, and looking is no use', async () => {
  expect(await start(20)).toMatchObject({state: 'ready', idle: 20})
  const server = await reach()
  const [idle, busy] = [await startKernel(server), await startKernel(server)]
  const [quiet, working] = [await KernelSession.open(server, idle), await KernelSession.open(server, busy)]
  const stop = join(folder, 'stop')
  working.run(`import os, time\nwhile not os.path.exists(${JSON.stringify(stop)}): time.sleep(0.05)`)
  await quiet.output('x = 1')
  await vi.waitFor(
    async () =>
      expect((await look()).kernels.map((one) => [one.state, one.endsAt === null]).toSorted()).toEqual([
        ['busy', true],
        ['idle', false],
      ]),
    {timeout: 60_000, interval: 100},
  )
  await vi.waitFor(async () => expect((await look()).kernels).toMatchObject([{state: 'busy'}]), {
    timeout: 60_000,
    interval: 200,
  })
  const {ended} = await look()
  expect(ended).toMatchObject([{what: `the kernel of ${idle.slice(0, 8)}`, why: 'idle for 20 s'}])
  expect((await ask(server, `/api/kernels/${busy}?no_track_activity=1`, {token: server.token})).status).toBe(200)
  await writeFile(stop, '')
  await vi.waitFor(async () => expect(await look()).toMatchObject({state: 'ended', kernels: []}), {
    timeout: 120_000,
    interval: 200,
  })
  expect((await look()).ended.map((one) => one.what)).toEqual([
    `the kernel of ${idle.slice(0, 8)}`,
    `the kernel of ${busy.slice(0, 8)}`,
    'the notebook',
  ])
  expect(await host.call('notebook.remove', {project: 'digits'})).toMatchObject({removed: true})
  expect(await findNotebooks(host, undefined, context)).toEqual([])
})

/**
 * The token is in no argument or environment of a process, and every file that has it lies behind a folder that only
 * its owner enters.
 */
async function nobodyReads(token: string): Promise<void> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    for (const file of ['cmdline', 'environ'])
      expect(await readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')).not.toContain(token)
  }
  const {socket} = await host.call('notebook.access', {project: 'digits'})
  const found = execFileSync('grep', ['-rlsF', '--', token, host.root, dirname(socket)], {encoding: 'utf8'})
    .trim()
    .split('\n')
  expect(found).toContain(join(host.root, 'notebooks/digits/token'))
  for (const file of found) {
    expect(file === join(host.root, 'notebooks/digits/token') || dirname(file) === `${socket}.d`, file).toBe(true)
    expect((await stat(dirname(file))).mode & 0o077).toBe(0)
  }
  expect((await stat(socket)).mode & 0o777).toBe(0o600)
  // What kernels say to the server goes through sockets in that folder: every account of the node could listen to a
  // port.
  expect(
    (await readdir(`${socket}.d`)).filter((name) => /^kernel-.*-ipc-\d+$/.test(name)).length,
  ).toBeGreaterThanOrEqual(5)
}
