import {spawn} from 'node:child_process'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {buildProgram, flexrack, type Ended} from '../support/program.ts'
import {recorded} from '../support/recording.ts'

let home: string
let env: NodeJS.ProcessEnv
const bench = (...words: string[]): Promise<Ended> => flexrack(['gpu', 'bench', ...words], {env})
const leases = async (): Promise<unknown[]> =>
  (JSON.parse((await flexrack(['gpu', 'leases', '--json'], {env})).stdout) as {leases: unknown[]}).leases

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-bench-e2e-'))
  // FLEXRACK_NATIVE: the tests of another build.
  env = {FLEXRACK_HOME: home, ...(process.env.FLEXRACK_NATIVE && {FLEXRACK_NATIVE: process.env.FLEXRACK_NATIVE})}
  const {status, stderr} = await flexrack(['local', 'up', '--nodes', '2', '--gpu', 'opencl'], {env})
  if (status !== 0) throw new Error(stderr)
})
afterAll(async () => {
  await flexrack(['local', 'down', '--purge', '--yes', '--grace', '1'], {env})
  await rm(home, {recursive: true, force: true})
})

test('measures a GPU beside the link to it, says what follows, and gives it back', async () => {
  const {status, stdout, stderr} = await bench()
  expect(status, stderr).toBe(0)
  expect(stdout).toMatch(/^node-1: .*, over shared memory\nThe link alone: TCP on this machine/)
  expect(stdout).toMatch(/\nround trip +[\d.]+ µs +[\d.]+ µs\n/)
  expect(stdout).toMatch(/\n64 MiB to the GPU +[\d.]+ GB\/s +[\d.]+ GB\/s +[█·]{20} \d+ %\n/)
  expect(stdout).toMatch(
    /\nShared memory carries 64 MiB to the GPU [\d.]+ times, and from it [\d.]+ times, as fast as TCP would on this machine\.\n/,
  )
  expect(await leases()).toEqual([])
})

test('measures shares on several nodes over the transport that is asked for', async () => {
  const {status, stdout, stderr} = await bench('-n', '2', '--memory', '48MiB', '--transport', 'tls', '--json')
  expect(status, stderr).toBe(0)
  const found = JSON.parse(stdout) as {node: string; gpu: Record<string, number>; link: Record<string, number>}[]
  expect(found.map((one) => one.node)).toEqual(['node-1', 'node-2'])
  for (const one of found) {
    expect(one).toMatchObject({
      memory: 48 * 1024 ** 2,
      transport: 'tls',
      link: {way: 'loopback'},
      gpu: {bulkBytes: 16 * 1024 ** 2},
    })
    const {way: _way, ...link} = one.link
    for (const [name, value] of [...Object.entries(one.gpu), ...Object.entries(link)])
      expect(value, name).toBeGreaterThan(0)
    expect(one.gpu.computeShare).toBeLessThanOrEqual(1)
  }
  expect(await leases()).toEqual([])
})

test('ends at Ctrl-C with nothing leased', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../bin/run.js'), 'gpu', 'bench'], {
    env: {...process.env, ...recorded(), ...env},
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  const ended = new Promise((done) => child.once('close', done))
  await new Promise<void>((done) =>
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()).includes('1 whole GPU: node-1') && done()),
  )
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(await leases()).toEqual([])
})

test('a plan says what would be leased and measures nothing', async () => {
  const {stdout} = await bench('-n', '2', '--dry-run', '--json')
  expect((JSON.parse(stdout) as {steps: {id: string}[]}).steps.map((step) => step.id)).toEqual([
    'lease:node-1',
    'lease:node-2',
    'measure',
  ])
})

test.each([
  [['-n', '3'], 7, '3 whole GPUs are asked for, but rack local has 2'],
  [['--memory', '1KiB'], 7, 'too little memory to be measured'],
  [['--on', 'node-9'], 4, 'has no node "node-9"'],
  [['--fraction', '2'], 2, 'a fraction is a number from 0.001 to 1'],
])('%j is an error, and nothing stays leased', async (words, status, message) => {
  expect(await bench(...words)).toMatchObject({status, stdout: '', stderr: expect.stringContaining(message)})
  expect(await leases()).toEqual([])
})

test('says who has the GPUs where all are in use, and that there are none where none are shared', async () => {
  const line = [
    'attach',
    '-n',
    '2',
    '--',
    'sh',
    '-c',
    `"$0" "$1" gpu bench`,
    process.execPath,
    join(import.meta.dirname, '../../bin/run.js'),
  ]
  const busy = await flexrack(line, {env})
  expect(busy).toMatchObject({status: 7, stderr: expect.stringContaining('1 whole GPU is asked for, but none is free')})
  expect(busy.stderr).toMatch(/nothing free; \S+@\S+ \(attach sh\) has all of it/)
  expect(busy.stderr).toContain('try: flexrack gpu bench --wait')
  expect((await flexrack(['gpu', 'stop'], {env})).status).toBe(0)
  expect(await bench()).toMatchObject({
    status: 7,
    stderr: expect.stringMatching(/serves no GPU[^]*try: flexrack gpu serve/),
  })
})
