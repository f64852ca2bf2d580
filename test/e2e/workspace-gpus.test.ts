import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {spawn} from 'node:child_process'
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest'
import {sharedEnvironments} from '../support/environments.ts'
import {buildOccupy, startGpuRack, type GpuRack} from '../support/gpu-rack.ts'
import {buildProgram, flexrack as program, shell, type Ended} from '../support/program.ts'
import {recorded} from '../support/recording.ts'

let rack: GpuRack
let folder: string
let occupy: {path: string; remove(): Promise<void>}

beforeAll(async () => {
  buildProgram()
  ;[rack, occupy] = await Promise.all([
    startGpuRack({nodes: 2, devices: 1, environments: await sharedEnvironments()}),
    buildOccupy(),
  ])
  folder = await mkdtemp(join(tmpdir(), 'flexrack-gpus-'))
  await writeFile(join(folder, 'flexrack.yaml'), 'name: demo\ngpus: {count: 1, memory: 256MiB}\n')
  await flexrack('workspace', 'up', '--on', 'node-2')
})
afterAll(async () => {
  await rack?.stop()
  await occupy?.remove()
  await rm(folder, {recursive: true, force: true})
})
afterEach(() => rack?.untilFree())

const options = () => ({cwd: folder, env: rack.env})
const flexrack = (...args: string[]): Promise<Ended> => program(args, options())
const remains = async (): Promise<string> =>
  (await rack.rack.shell('node-2')).run('ls ~/.flexrack/gpu/leases 2>/dev/null; true')

test('a command in a workspace sees GPUs of other nodes, has our stdin and its own exit status, and leaves nothing', async () => {
  const line = `printf '\\n' | $FLEXRACK workspace exec --on node-2 --gpus 2 -- sh -c '"$0" 16; echo problem >&2; exit 7' ${occupy.path}`
  const done = await shell(line, options())
  expect(done).toMatchObject({status: 7, stdout: 'ready on 2\n0: 1\n1: 1\nbye\n'})
  expect(done.stderr).toContain('problem\n')
  expect(await remains()).toBe('')
  const reported = JSON.parse(
    (await flexrack('workspace', 'exec', '--on', 'node-2', '--gpus', '1', '--json', '--', 'clinfo', '--json')).stdout,
  )
  expect(reported).toMatchObject([{node: 'node-2', status: 0}])
  expect(
    JSON.parse(reported[0].stdout).devices[0].online.map(
      (one: {CL_DEVICE_GLOBAL_MEM_SIZE: number}) => one.CL_DEVICE_GLOBAL_MEM_SIZE,
    ),
  ).toEqual([256 * 1024 ** 2])
})

test('Ctrl-C reaches it once, and where the client is killed all of it ends', async () => {
  const idle = (await rack.rack.status()).nodes.map((node) => node.processes)
  const script =
    'n=0; trap "n=\\$((n+1)); echo caught \\$n" INT; trap "exit 4" TERM; echo ready; while :; do sleep 0.05; test $n = 1 && sleep 0.3 && exit 5; done'
  for (const [signal, status] of [
    ['SIGINT', 5],
    ['SIGKILL', null],
  ] as const) {
    const child = spawn(
      process.execPath,
      [
        join(import.meta.dirname, '../../bin/run.js'),
        'workspace',
        'exec',
        '--on',
        'node-2',
        '--gpus',
        '1',
        '--',
        'sh',
        '-c',
        script,
      ],
      {cwd: folder, env: {...process.env, ...recorded(), ...rack.env}, stdio: ['pipe', 'pipe', 'pipe']},
    )
    let stdout = ''
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk.toString()
        if (stdout.includes('ready')) resolve()
      })
      child.once('close', () => reject(new Error(`ended before it was ready: ${stdout}`)))
    })
    const ended = new Promise((done) => child.once('close', done))
    child.kill(signal)
    expect(await ended).toBe(status)
    if (signal === 'SIGINT') expect(stdout).toBe('ready\ncaught 1\n')
    await rack.untilFree()
  }
  expect((await rack.rack.status()).nodes.map((node) => node.processes)).toEqual([idle[0], idle[1]])
})

test('says what GPUs only where some are asked for', async () => {
  expect(await flexrack('workspace', 'exec', '--on', 'node-2', '--fraction', '0.5', '--', 'true')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--gpus 1'),
  })
  expect(await flexrack('workspace', 'exec', '--on', 'all', '--gpus', '1', '--', 'true')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('works on one'),
  })
})
