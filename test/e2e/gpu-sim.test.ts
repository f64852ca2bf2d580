import {mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises'
import {existsSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import type {GpuReport} from '../../src/lib/gpu/index.ts'
import {buildProgram, flexrack as program, type Ended} from '../support/program.ts'

const GiB = 1024 ** 3
const built = process.env.FLEXRACK_NATIVE ?? resolve(import.meta.dirname, '../../native/build/release')
let home: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-gpu-sim-'))
  env = {FLEXRACK_HOME: home, FLEXRACK_NATIVE: built}
})
afterAll(async () => {
  await flexrack('local', 'down', '--purge', '--yes', '--grace', '1')
  await rm(home, {recursive: true, force: true})
})

const flexrack = (...args: string[]): Promise<Ended> => program(args, {env, cwd: home})
const report = async (): Promise<GpuReport> => JSON.parse((await flexrack('gpu', 'list', '--json')).stdout) as GpuReport

it('a local rack has GPUs in software, which say what they are', async () => {
  expect(
    await flexrack('local', 'up', '--nodes', '2', '--gpu', 'sim', '--sim-devices', '2', '--sim-memory', '2GiB'),
  ).toMatchObject({status: 0})
  const {nodes, devices} = await report()
  expect(nodes).toMatchObject([
    {node: 'node-1', state: 'running', backend: 'sim'},
    {node: 'node-2', state: 'running', backend: 'sim'},
  ])
  expect(devices).toHaveLength(4)
  for (const device of devices)
    expect(device).toMatchObject({
      name: 'Flexrack Simulated GPU',
      vendor: 'Flexrack',
      api: 'cuda',
      capability: '7.5',
      driver: '13.0',
      memory: 2 * GiB,
      used: 0,
    })
  expect(new Set(devices.map((one) => one.id)).size).toBe(4)
  expect((await flexrack('gpu', 'smi')).stdout).toMatch(/0 {2}Flexrack Simulated GPU {2}capability 7\.5, CUDA 13\.0/)
})

it('nodes go on with what they have, and are told where a setting cannot be', async () => {
  expect((await flexrack('local', 'up', '--nodes', '2', '--gpu', 'auto', '--dry-run', '--json')).status).toBe(0)
  const other = await flexrack('local', 'up', '--nodes', '2', '--gpu', 'opencl')
  expect(other).toMatchObject({
    status: 4,
    stdout: '',
    stderr: expect.stringContaining(
      'node-1, node-2 of the local rack share GPUs already, of the kind sim and not opencl',
    ),
  })
  expect((await flexrack('gpu', 'serve', '--dry-run')).stdout).toBe('Nothing to do for gpu serve.\n')
  const refused = await flexrack('gpu', 'serve', 'node-1', '--backend', 'sim', '--sim-memory', '1MiB')
  expect(refused).toMatchObject({
    status: 7,
    stderr: expect.stringMatching(/FLEXRACK_SIM_MEMORY=1048576: expected 16MiB/),
  })
  expect(await flexrack('gpu', 'serve', '--sim-memory', '1GiB')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--backend sim'),
  })
  expect((await report()).devices).toHaveLength(4)
})

it('a command finds the CUDA driver before all others, and nothing of OpenCL', async () => {
  const script =
    'echo "$LD_LIBRARY_PATH"; echo "${OCL_ICD_VENDORS-unset}"; ls "${LD_LIBRARY_PATH%%:*}"; readlink "${LD_LIBRARY_PATH%%:*}/libcuda.so.1"'
  const done = await program(['attach', '-n', '3', '--', 'sh', '-c', script], {
    env: {...(await withDrivers()), LD_LIBRARY_PATH: '/opt/lib'},
  })
  expect(done).toMatchObject({status: 0})
  const [path = '', vendors, ...links] = done.stdout.trimEnd().split('\n')
  expect(path).toMatch(/^\/.*\/libraries:\/opt\/lib$/)
  expect(vendors).toBe('unset')
  expect(links.slice(0, 6)).toEqual([
    'flexrack-ptx-passthrough',
    'libcuda.so',
    'libcuda.so.1',
    'libflexrack-nccl.so',
    'libnvidia-ml.so',
    'libnvidia-ml.so.1',
  ])
  expect(links[6]).toBe(join(home, 'native', 'libflexrack-cuda.so'))
  expect(existsSync(path.split(':')[0] as string)).toBe(false)
})

it('a command uses the devices of both nodes as one list, each of the size of its share', async () => {
  const done = await program(
    [
      'attach',
      '-n',
      '3',
      '--memory',
      '256MiB',
      '--',
      'python3',
      join(import.meta.dirname, '../fixtures/gpu/cuda_devices.py'),
    ],
    {env: await withDrivers()},
  )
  expect(done).toMatchObject({status: 0})
  expect(
    done.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(Array(3).fill({name: 'Flexrack Simulated GPU', memory: 256 * 1024 ** 2, same: true}))
})

it('NVML says the same of them, and holds nothing of them', async () => {
  const memory = 256 * 1024 ** 2
  const fixture = join(import.meta.dirname, '../fixtures/gpu/nvml_devices.py')
  const done = await program(['attach', '-n', '3', '--memory', '256MiB', '--', 'python3', fixture], {
    env: await withDrivers(),
  })
  expect(done).toMatchObject({status: 0})
  expect(
    done.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(Array(3).fill({name: 'Flexrack Simulated GPU', total: memory, used: 0, free: memory}))
})

it('a command of an API that no node shares is refused', async () => {
  expect(await flexrack('attach', '--api', 'opencl', '--', 'true')).toMatchObject({
    status: 7,
    stderr: expect.stringContaining('rack local serves no GPU through OpenCL'),
  })
})

it('a command in a workspace finds them too', async () => {
  await mkdir(join(home, 'project'))
  await writeFile(
    join(home, 'project', 'flexrack.yaml'),
    'name: demo\ngpus: {memory: 512MiB, api: cuda}\nworkspace: {env: {LD_LIBRARY_PATH: /opt/lib}}\n',
  )
  const options = {env: await withDrivers(), cwd: join(home, 'project')}
  expect(await program(['workspace', 'up', '--on', 'node-2'], options)).toMatchObject({status: 0})
  const done = await program(
    [
      'workspace',
      'exec',
      '--on',
      'node-2',
      '--gpus',
      '2',
      '--',
      'sh',
      '-c',
      'echo "$LD_LIBRARY_PATH"; readlink "${LD_LIBRARY_PATH%%:*}/libcuda.so.1"',
    ],
    options,
  )
  expect(done).toMatchObject({status: 0})
  expect(done.stdout).toMatch(
    /^\/.*\/gpu\/leases\/[0-9a-f]+\/libraries:\/opt\/lib\n\/.*\/gpu\/program\/libflexrack-cuda-[0-9a-f]{16}\.so\n$/,
  )
})

async function withDrivers(): Promise<NodeJS.ProcessEnv> {
  const folder = join(home, 'native')
  if (!existsSync(folder)) {
    await mkdir(folder)
    for (const name of [
      'flexrack-gpud',
      'flexrack-lease-keeper',
      'libflexrack-sim.so',
      'libflexrack-cuda.so',
      'libflexrack-nvml.so',
      'libflexrack-nccl.so',
      'flexrack-ptx-passthrough',
    ])
      await symlink(join(built, name), join(folder, name))
  }
  return {...env, FLEXRACK_NATIVE: folder}
}
