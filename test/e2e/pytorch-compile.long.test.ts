import {execFileSync} from 'node:child_process'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack as program, shell, type Ended} from '../support/program.ts'

/**
 * Template pytorch-compile as its README has it: PyTorch's own wheel compiles the training of the digits for a GPU in
 * software, attached and as a run of a node. It comes to what the CPU comes to.
 */
const native = resolve(import.meta.dirname, '../native')
const built = process.env.FLEXRACK_NATIVE ?? resolve(import.meta.dirname, '../../native/build/release')
const software = 'GPU: Flexrack Simulated GPU, which is SOFTWARE'
let python: string
let rack: TestLocalRack
let folder: string
let project: string

beforeAll(async () => {
  buildProgram()
  // What `pip install -r requirements.txt` is to users: the same versions, kept by uv beside those of the other tests.
  const script =
    'from pathlib import Path; from environments import locked_environment; print(locked_environment("framework-torch", Path("frameworks/torch.txt")) / "bin" / "python")'
  python = execFileSync('python3', ['-c', script], {
    cwd: native,
    env: {...process.env, PYTHONPATH: native},
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
  rack = await startLocalRack({nodes: 1, environments: await sharedEnvironments(), env: {FLEXRACK_NATIVE: built}})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-pytorch-compile-'))
  project = join(folder, 'digits')
  expect(await program(['init', project, '--template', 'pytorch-compile'], {env: rack.env})).toMatchObject({status: 0})
  expect(await flexrack('local', 'up', '--gpu', 'sim', '--sim-profile', 'blackwell')).toMatchObject({status: 0})
  cpu = await onTheCpu()
  expect(cpu, cpu.stderr).toMatchObject({status: 0})
  expect(epochs(cpu)).toHaveLength(1)
}, 1_800_000)
afterAll(async () => {
  await rack?.stop()
  if (folder) await rm(folder, {recursive: true, force: true})
})

const flexrack = (...args: string[]): Promise<Ended> => program(args, {env: rack.env, cwd: project})
/** Loss and accuracy of each epoch, as they are printed. */
const epochs = ({stdout}: Ended): string[] =>
  [...stdout.matchAll(/epoch \d+\/\d+ {2}loss [\d.]+ {2}test accuracy [\d.]+/g)].map(([line]) => line)
let cpu: Ended
const onTheCpu = (): Promise<Ended> =>
  shell(`"${python}" train.py --epochs 1 --device cpu`, {env: rack.env, cwd: project})

test('an epoch of the digits, attached, is what the CPU makes of it', async () => {
  const attached = await flexrack('attach', '--', python, 'train.py', '--epochs', '1')
  expect(attached, attached.stderr).toMatchObject({status: 0})
  expect(attached.stdout).toContain(software)
  expect(epochs(attached)).toEqual(epochs(cpu))
})

test('an epoch of the digits as a run of a node, with a lease, is what the CPU makes of it', async () => {
  const trained = await flexrack('train', '--no-tracking', '--', '--epochs', '1')
  expect(trained, trained.stderr).toMatchObject({status: 0})
  expect(trained.stdout).toContain(software)
  expect(epochs(trained)).toEqual(epochs(cpu))
})
