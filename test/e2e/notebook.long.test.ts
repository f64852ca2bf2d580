import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {createInterface} from 'node:readline'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {sharedEnvironments} from '../support/environments.ts'
import {ask, KernelSession, startKernel} from '../support/kernel.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {drivePage} from '../support/page-driver.ts'
import {buildProgram, flexrack as program, type Ended} from '../support/program.ts'

let rack: TestLocalRack
let project: string

beforeAll(async () => {
  buildProgram()
  rack = await startLocalRack({nodes: 1, environments: await sharedEnvironments()})
  project = join(await mkdtemp(join(tmpdir(), 'flexrack-notebook-')), 'digits')
  await mkdir(project)
  await writeFile(join(project, 'flexrack.yaml'), 'name: digits\n')
  const cell = {
    cell_type: 'code',
    execution_count: null,
    id: 'one',
    metadata: {},
    outputs: [],
    source: ['import sys\n', 'print("answer", 6 * 7, sys.version_info[0])'],
  }
  await writeFile(
    join(project, 'a.ipynb'),
    JSON.stringify({
      cells: [cell],
      metadata: {kernelspec: {display_name: 'Python 3', language: 'python', name: 'python3'}},
      nbformat: 4,
      nbformat_minor: 5,
    }),
  )
})

afterAll(async () => {
  await rack?.stop()
  await rm(join(project, '..'), {recursive: true, force: true})
})

const flexrack = (...args: string[]): Promise<Ended> =>
  program(args, {
    cwd: project,
    env: {FLEXRACK_HOME: rack.home, ...(process.env.FLEXRACK_NATIVE && {FLEXRACK_NATIVE: process.env.FLEXRACK_NATIVE})},
  })

const ANSWERED = `[...document.querySelectorAll('.jp-OutputArea-output')].some((one) => one.innerText.includes('answer 42 3'))`

test('a cell runs in a real browser, through the commands that a user types', async () => {
  expect(await flexrack('workspace', 'up')).toMatchObject({status: 0})
  expect(
    JSON.parse((await flexrack('notebook', 'start', '--dry-run', '--json')).stdout).steps.map(
      (one: {id: string}) => one.id,
    ),
  ).toEqual(['server', 'kernel', 'start'])
  expect(await flexrack('notebook', 'start')).toMatchObject({status: 0, stdout: expect.stringContaining('ready')})
  const open = spawn(process.execPath, [resolve('bin/run.js'), 'notebook', 'open', '--json'], {
    cwd: project,
    env: {...process.env, FLEXRACK_HOME: rack.home},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({input: open.stdout}), 'line')) as [string]
  const url = new URL((JSON.parse(line) as {url: string}).url)
  url.pathname = '/lab/tree/a.ipynb'
  const page = await drivePage(url.href)
  try {
    await page.until(`document.querySelector('.jp-Notebook .jp-CodeCell')`)
    // The page may ask which kernel it is to start; keys that come before it is there are lost.
    await vi.waitFor(
      async () => {
        if (await page.evaluate<boolean>(ANSWERED)) return
        await page.evaluate(`document.querySelector('.jp-Dialog .jp-mod-accept')?.click()`)
        await page.evaluate(`document.querySelector('.jp-CodeCell .cm-content')?.focus()`)
        await page.shiftEnter()
        await pause(2000)
        expect(await page.evaluate<boolean>(ANSWERED)).toBe(true)
      },
      {timeout: 180_000, interval: 100},
    )
    if (process.env.FLEXRACK_SCREENSHOT) await page.screenshot(process.env.FLEXRACK_SCREENSHOT)
    expect((await flexrack('notebook', 'list')).stdout).toMatch(/a\.ipynb +python3 +idle/)
  } finally {
    await page.close()
    open.kill('SIGINT')
    await once(open, 'exit')
  }
  expect((await flexrack('notebook', 'logs')).status).toBe(0)
})

for (const isolate of [false, true])
  test(`a kernel${isolate ? ' in a sandbox without network' : ''} has the GPU that it leases for as long as it lives, also where its server is killed; a removed workspace has no notebook`, async () => {
    if (isolate)
      await writeFile(join(project, 'flexrack.yaml'), 'name: digits\nworkspace: {isolate: {network: none}}\n')
    expect(await flexrack('workspace', 'up')).toMatchObject({status: 0})
    expect(await flexrack('gpu', 'serve', '--backend', 'sim', '--sim-devices', '1')).toMatchObject({status: 0})
    expect(await flexrack('notebook', 'start', '--gpus', '1', '--memory', '512MiB')).toMatchObject({status: 0})
    const open = spawn(process.execPath, [resolve('bin/run.js'), 'notebook', 'open', '--json'], {
      cwd: project,
      env: {...process.env, FLEXRACK_HOME: rack.home},
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [line] = (await once(createInterface({input: open.stdout}), 'line')) as [string]
      const {url, port} = JSON.parse(line) as {url: string; port: number}
      const server = {port, token: new URL(url).searchParams.get('token')!}
      const leases = async (): Promise<unknown[]> =>
        (
          JSON.parse((await flexrack('gpu', 'leases', '--json')).stdout) as {leases: {state: string; purpose: string}[]}
        ).leases.map((one) => [one.state, one.purpose])
      const [first, second] = [await startKernel(server, 'gpu'), await startKernel(server, 'gpu')]
      for (const kernel of [first, second]) {
        const session = await KernelSession.open(server, kernel)
        expect(
          await session.output(
            'import ctypes\nc = ctypes.CDLL("libcuda.so.1"); n, size = ctypes.c_int(), ctypes.c_size_t()\nc.cuInit(0); c.cuDeviceGetCount(ctypes.byref(n)); c.cuDeviceTotalMem_v2(ctypes.byref(size), 0); print(n.value, size.value)',
          ),
        ).toBe(`1 ${512 * 1024 ** 2}\n`)
        session.close()
      }
      expect(await leases()).toEqual([
        ['held', 'notebook digits'],
        ['held', 'notebook digits'],
      ])
      expect((await ask(server, `/api/kernels/${first}`, {token: server.token, method: 'DELETE'})).status).toBe(204)
      await vi.waitFor(async () => expect(await leases()).toEqual([['held', 'notebook digits']]), {
        timeout: 60_000,
        interval: 500,
      })
      process.kill(await serverPid(), 'SIGKILL')
      await vi.waitFor(async () => expect(await leases()).toEqual([]), {timeout: 60_000, interval: 500})
    } finally {
      open.kill('SIGINT')
      await once(open, 'exit')
    }
    expect(await flexrack('workspace', 'remove', '--yes')).toMatchObject({status: 0})
    expect((await flexrack('notebook', 'list')).stdout).toContain('There is no notebook')
  })

/** The server of notebooks of this rack, by what it was told in its environment. */
async function serverPid(): Promise<number> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [command, environment] = await Promise.all(
      ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')),
    )
    if (
      /\0jupyterlab\0|python\0-I\0[^\0]*\/notebook\/server\.py\0/.test(command!) &&
      !command!.includes('bwrap') &&
      environment!.includes(`JUPYTER_CONFIG_DIR=${rack.home}`)
    )
      return Number(pid)
  }
  throw new Error('no server of notebooks runs')
}
