import {execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {createInterface} from 'node:readline'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {openHost} from '../../src/lib/host/index.ts'
import {editRack} from '../../src/lib/rack/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {ask, KernelSession, startKernel, type JupyterServer} from '../support/kernel.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack as program, type Ended} from '../support/program.ts'

/** Kernels on node-1 with GPUs in software of node-2. */
let rack: TestLocalRack
let project: string

beforeAll(async () => {
  buildProgram()
  rack = await startLocalRack({nodes: 2, environments: await sharedEnvironments()})
  project = join(await mkdtemp(join(tmpdir(), 'flexrack-remote-')), 'digits')
  await mkdir(project)
}, 300_000)

afterAll(async () => {
  await rack?.stop()
  await rm(join(project, '..'), {recursive: true, force: true})
})

const flexrack = (...args: string[]): Promise<Ended> =>
  program(args, {
    cwd: project,
    env: {FLEXRACK_HOME: rack.home, ...(process.env.FLEXRACK_NATIVE && {FLEXRACK_NATIVE: process.env.FLEXRACK_NATIVE})},
  })
const json = async <T>(...args: string[]): Promise<T> => JSON.parse((await flexrack(...args, '--json')).stdout) as T
const leases = async (): Promise<string[]> =>
  (await json<{leases: {node: string; state: string; purpose: string}[]}>('gpu', 'leases')).leases.map(
    ({node, state, purpose}) => `${node} ${state} ${purpose}`,
  )
const until = (wanted: string[]): Promise<void> =>
  vi.waitFor(async () => expect(await leases()).toEqual(wanted), {timeout: 60_000, interval: 500})
const passes = async (): Promise<string[]> => {
  const {root} = await openHost(rack.fleet(), rack.rack.nodes[1]!, rack.context())
  return readdir(join(root, 'gpu/passes'))
}
const REMOTE = 'node-2 held notebook digits on node-1'
/** What it has, and that it computes: a copy to the device and back. */
const CELL = `import ctypes
c = ctypes.CDLL("libcuda.so.1"); n, size = ctypes.c_int(), ctypes.c_size_t()
c.cuInit(0); c.cuDeviceGetCount(ctypes.byref(n)); c.cuDeviceTotalMem_v2(ctypes.byref(size), 0)
made = ctypes.c_void_p(); assert c.cuCtxCreate_v2(ctypes.byref(made), 0, 0) == 0
at = ctypes.c_uint64(); assert c.cuMemAlloc_v2(ctypes.byref(at), 1 << 20) == 0
back = (ctypes.c_char * 9)(); assert c.cuMemcpyHtoD_v2(at, b"flexrack\\0", 9) == 0 and c.cuMemcpyDtoH_v2(back, at, 9) == 0
print(n.value, size.value, back.value.decode())`
const SEEN = `1 ${512 * 1024 ** 2} flexrack\n`

async function withServer(use: (server: JupyterServer) => Promise<void>): Promise<void> {
  const open = spawn(process.execPath, [resolve('bin/run.js'), 'notebook', 'open', '--json'], {
    cwd: project,
    env: {...process.env, FLEXRACK_HOME: rack.home},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(createInterface({input: open.stdout}), 'line')) as [string]
    const {url, port} = JSON.parse(line) as {url: string; port: number}
    await use({port, token: new URL(url).searchParams.get('token')!})
  } finally {
    open.kill('SIGINT')
    await once(open, 'exit')
  }
}

async function computed(server: JupyterServer): Promise<string> {
  const kernel = await startKernel(server, 'gpu')
  const session = await KernelSession.open(server, kernel)
  expect(await session.output(CELL)).toBe(SEEN)
  session.close()
  return kernel
}

/** Process of this rack's whose words have all of these. */
async function pidOf(...words: string[]): Promise<number> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
    if (words.every((one) => command.includes(one)) && command.includes(rack.home)) return Number(pid)
  }
  throw new Error(`no process of ${words.join(' ')}`)
}

test('a kernel leases a GPU of another node when it starts, and gives it back however it ends', async () => {
  await writeFile(join(project, 'flexrack.yaml'), 'name: digits\n')
  expect(await flexrack('workspace', 'up', '--on', 'node-1')).toMatchObject({status: 0})
  expect(
    await flexrack('gpu', 'serve', 'node-2', '--backend', 'sim', '--sim-devices', '1', '--sim-memory', '1GiB'),
  ).toMatchObject({status: 0})
  const start = ['notebook', 'start', '--on', 'node-1', '--gpus', '1', '--memory', '512MiB']
  expect(await flexrack(...start)).toMatchObject({status: 7, stderr: expect.stringContaining('--remote')})
  const started = await flexrack(...start, '--remote')
  expect(started, started.stderr).toMatchObject({status: 0})
  await withServer(async (server) => {
    const [first, second] = [await computed(server), await computed(server)]
    expect(await leases()).toEqual([REMOTE, REMOTE])
    const third = await startKernel(server, 'gpu') // there is nothing left: it ends, and the log says why
    await vi.waitFor(
      async () =>
        expect((await flexrack('notebook', 'logs', 'digits', '--on', 'node-1')).stdout).toMatch(
          /no GPU for a kernel: .*node-2: /,
        ),
      {timeout: 60_000, interval: 1000},
    )
    await ask(server, `/api/kernels/${third}`, {token: server.token, method: 'DELETE'})
    expect((await ask(server, `/api/kernels/${first}`, {token: server.token, method: 'DELETE'})).status).toBe(204)
    await until([REMOTE])
    process.kill(await pidOf('kernel.py', second), 'SIGKILL')
    // Jupyter starts a kernel that was killed once more: it leases once more
    await vi.waitFor(
      async () => {
        const session = await KernelSession.open(server, second)
        expect(await session.output(CELL)).toBe(SEEN)
        session.close()
      },
      {timeout: 60_000, interval: 1000},
    )
    process.kill(await pidOf('gpu/door.py'), 'SIGKILL') // whoever has a lease does not need the door
    const session = await KernelSession.open(server, second)
    expect(await session.output(CELL)).toBe(SEEN)
    session.close()
    await vi.waitFor(async () => expect(await computed(server)).toBeTruthy(), {timeout: 60_000, interval: 1000})
    expect(await leases()).toEqual([REMOTE, REMOTE])
  })
  expect(await flexrack('notebook', 'stop', '--on', 'node-1')).toMatchObject({status: 0})
  await until([])
  expect(await passes()).toEqual([])
}, 600_000)

test('in a sandbox without network it has one over TLS, too, and the end of the keeper gives it back', async () => {
  await writeFile(join(project, 'flexrack.yaml'), 'name: digits\nworkspace: {isolate: {network: none}}\n')
  await editRack(rack.rack.path, (one) => ({...one, gpu: {transport: 'tls'}}))
  expect(await flexrack('gpu', 'serve', 'node-2')).toMatchObject({status: 0})
  expect(await flexrack('workspace', 'up', '--on', 'node-1')).toMatchObject({status: 0})
  const started = await flexrack(
    ...['notebook', 'start', '--on', 'node-1', '--gpus', '1', '--memory', '512MiB', '--remote'],
  )
  expect(started, started.stderr).toMatchObject({status: 0})
  await withServer(async (server) => {
    await computed(server)
    expect(await leases()).toEqual([REMOTE])
    process.kill(await pidOf('notebook/keeper.py'), 'SIGKILL')
    await until([])
  })
  expect(await flexrack('workspace', 'remove', '--yes', '--on', 'node-1')).toMatchObject({status: 0})
  expect(await passes()).toEqual([])
}, 600_000)

test('in an image it has one, too, and the end of the kernel gives it back', async () => {
  const layout = join(project, '../layout')
  execFileSync('python3', [resolve(import.meta.dirname, '../node/image_support.py'), layout, 'python'])
  await writeFile(join(project, 'flexrack.yaml'), `name: digits\nworkspace: {image: "oci:${layout}:python"}\n`)
  const up = await flexrack('workspace', 'up', '--on', 'node-1')
  expect(up, up.stderr).toMatchObject({status: 0})
  const started = await flexrack(
    ...['notebook', 'start', '--on', 'node-1', '--gpus', '1', '--memory', '512MiB', '--remote'],
  )
  expect(started, started.stderr).toMatchObject({status: 0})
  await withServer(async (server) => {
    const kernel = await computed(server)
    expect(await leases()).toEqual([REMOTE])
    expect((await ask(server, `/api/kernels/${kernel}`, {token: server.token, method: 'DELETE'})).status).toBe(204)
    await until([])
  })
  expect(await flexrack('workspace', 'remove', '--yes', '--on', 'node-1')).toMatchObject({status: 0})
  expect(await passes()).toEqual([])
}, 600_000)
