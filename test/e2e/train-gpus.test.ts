import {existsSync} from 'node:fs'
import {copyFile, mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {buildProgram, flexrack as program, type Ended} from '../support/program.ts'

/** Runs whose ranks get leases: shares of GPUs, and GPUs of other nodes. GPUs are the ones in software. */
const GiB = 1024 ** 3
const built = process.env.FLEXRACK_NATIVE ?? resolve(import.meta.dirname, '../../native/build/release')
const fixtures = join(import.meta.dirname, '../fixtures/gpu')
let home: string
let project: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-train-gpus-'))
  project = join(home, 'project')
  await mkdir(project)
  await copyFile(join(fixtures, 'cuda_devices.py'), join(project, 'devices.py'))
  env = {FLEXRACK_HOME: home, FLEXRACK_NATIVE: built}
  expect(
    await flexrack('local', 'up', '--nodes', '2', '--gpu', 'sim', '--sim-devices', '2', '--sim-memory', '1GiB'),
  ).toMatchObject({status: 0})
})
afterAll(async () => {
  await flexrack('local', 'down', '--purge', '--yes', '--grace', '1')
  await rm(home, {recursive: true, force: true})
})

const flexrack = (...args: string[]): Promise<Ended> => program(args, {env, cwd: existsSync(project) ? project : home})
const manifest = (train: string): Promise<void> =>
  writeFile(join(project, 'flexrack.yaml'), `name: demo\nrack: local\ntrain: {launcher: plain, ${train}}\n`)
const train = (...args: string[]): Promise<Ended> => flexrack('train', '--no-tracking', ...args)
const seen = (ended: Ended): {name: string; memory: number; same: boolean}[] =>
  [...ended.stdout.matchAll(/\{"name".*\}/g)].map(
    ([line]) => JSON.parse(line) as {name: string; memory: number; same: boolean},
  )
const leases = async (): Promise<number> =>
  (JSON.parse((await flexrack('gpu', 'leases', '--json')).stdout) as {leases: unknown[]}).leases.length

test('ranks get shares, each its own, and nothing stays leased', async () => {
  await manifest('command: devices.py, nodes: 2, gpus: {count: 2, fraction: 0.5}')
  const plan = await train('--dry-run')
  expect(plan.stdout).toContain('node-1: Shares are asked for; leased: 0.5 of each of GPU0, GPU1 of its own.')
  const done = await train()
  expect(done).toMatchObject({status: 0})
  expect(seen(done)).toEqual(Array(4).fill({name: 'Flexrack Simulated GPU', memory: GiB / 2, same: true}))
  expect(await leases()).toBe(0)
})

test('what is too much is refused, with what each node has, before anything is changed', async () => {
  await manifest('command: devices.py, gpus: {count: 3, memory: 512MiB}')
  const refused = await train()
  expect(refused).toMatchObject({
    status: 7,
    stderr: expect.stringContaining('3 shares of GPUs are asked for: GPU0 has 1024 MiB and 100 % of its time free'),
  })
  await manifest('command: devices.py, gpus: {count: 1, fraction: 0.5, memory: 1GiB}')
  expect(await train()).toMatchObject({status: 3, stderr: expect.stringContaining('both memory and fraction')})
})

test('a node without free GPUs of its own leases those of another where the manifest allows it, and the plan says so', async () => {
  await manifest('command: devices.py, nodes: 2, gpus: 1')
  expect(await flexrack('gpu', 'stop', 'node-1')).toMatchObject({status: 0})
  expect(await train()).toMatchObject({status: 7, stderr: expect.stringContaining('It has no GPUs')})
  await manifest('command: devices.py, nodes: 2, gpus: {count: 1, remote: true}')
  const plan = await train('--dry-run')
  expect(plan.stdout).toMatch(/node-1: It has no GPUs; leased: GPU[01] of node-2, over the network\./)
  const done = await train()
  expect(done).toMatchObject({status: 0})
  expect(seen(done)).toEqual(Array(2).fill({name: 'Flexrack Simulated GPU', memory: GiB, same: true}))
  expect(await leases()).toBe(0)
})

test('a restarted gang has its GPUs again', async () => {
  await writeFile(
    join(project, 'again.py'),
    'import os, runpy\nrunpy.run_path("devices.py")\nif os.environ["FLEXRACK_ATTEMPT"] == "1": raise SystemExit(3)\n',
  )
  await manifest('command: again.py, restarts: 1, gpus: {count: 1, fraction: 0.25, remote: true}')
  const done = await train()
  expect(done).toMatchObject({status: 0})
  expect(seen(done)).toEqual(Array(2).fill({name: 'Flexrack Simulated GPU', memory: GiB / 4, same: true}))
})

test('where the supervisor is killed, its leases end', async () => {
  await writeFile(join(project, 'long.py'), 'import time\nprint("up", flush=True)\ntime.sleep(600)\n')
  await manifest('command: long.py, gpus: {count: 1, remote: true}')
  const started = await train('--detach', '--json')
  const {run} = JSON.parse(started.stdout) as {run: string}
  expect(await leases()).toBe(1)
  const shown = JSON.parse((await flexrack('runs', 'show', run, '--json')).stdout) as {folders: Record<string, string>}
  const folder = Object.values(shown.folders)[0] as string
  const {pid} = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as {pid: number}
  process.kill(pid, 'SIGKILL')
  await expect.poll(leases).toBe(0)
  expect(await flexrack('runs', 'wait', run)).not.toMatchObject({status: 0})
})
