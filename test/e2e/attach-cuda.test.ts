import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest'
import {brokerOf, startGpuRack, type Attaching, type GpuRack} from '../support/gpu-rack.ts'
import {buildProgram} from '../support/program.ts'

/** What only programs of CUDA have, as users type it: two servers that do the same, and memory that takes turns. */
const ROUNDS = join(import.meta.dirname, '../fixtures/gpu/cuda_rounds.py')
let rack: GpuRack

beforeAll(async () => {
  buildProgram()
  rack = await startGpuRack({nodes: 2, devices: 1, serve: false})
  const sim = ['--backend', 'sim', '--sim-memory', '192MiB', '--oversubscribe', '1GiB']
  expect(await rack.flexrack('gpu', 'serve', ...sim)).toMatchObject({status: 0})
})
afterAll(() => rack?.stop())
afterEach(() => rack?.untilFree())

const rounds = async (flags: string[], mebibytes: number, value: number): Promise<Attaching> => {
  const running = rack.attach(...flags, '--', 'python3', ROUNDS, String(mebibytes), String(value))
  await running.says('ready')
  return running
}

test('with --mirror a program goes on when a server is lost, hears of it, and has lost nothing', async () => {
  const running = await rounds(['--mirror', '--memory', '64MiB'], 16, 7)
  running.child.stdin?.write('\n')
  await running.says('found 8\n')
  const shell = await rack.rack.shell('node-1')
  await shell.run(`for one in $(cat /proc/${await brokerOf(shell)}/task/*/children); do kill -9 $one; done`)
  running.child.stdin?.write('\n')
  await running.says('found 9\n')
  running.child.stdin?.end()
  expect(await running.ended).toMatchObject({
    status: 0,
    stdout: 'ready\nfound 8\nfound 9\nbye\n',
    stderr: expect.stringMatching(/node-1 is lost[\s\S]*goes on with node-2 alone/),
  })
})

test('with --oversubscribe programs together have more than the GPU, each its own when its turn comes', async () => {
  const flags = ['--on', 'node-1', '--memory', '128MiB', '--oversubscribe']
  const one = await rounds(flags, 100, 10)
  const other = await rounds(flags, 100, 20)
  // Each has more than half of it, so one of them is not there.
  expect((await rack.flexrack('gpu', 'smi')).stdout).toMatch(/turns {2}256\.0 MiB granted/)
  for (const [program, found] of [
    [one, 11],
    [other, 21],
    [one, 12],
  ] as const) {
    program.child.stdin?.write('\n')
    await program.says(`found ${found}\n`)
  }
  for (const program of [one, other]) program.child.stdin?.end()
  expect(await one.ended).toMatchObject({status: 0, stdout: 'ready\nfound 11\nfound 12\nbye\n'})
  expect(await other.ended).toMatchObject({status: 0, stdout: 'ready\nfound 21\nbye\n'})
})
