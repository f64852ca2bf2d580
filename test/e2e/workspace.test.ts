import {once} from 'node:events'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {connect, createServer, type AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {text} from 'node:stream/consumers'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack as program, shell, terminal, type Ended} from '../support/program.ts'

let rack: TestLocalRack
let folder: string
let project: string

beforeAll(async () => {
  buildProgram()
  rack = await startLocalRack({nodes: 2, environments: await sharedEnvironments()})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-commands-'))
  project = join(folder, 'demo')
  await mkdir(project)
  await writeFile(join(project, 'flexrack.yaml'), 'name: demo\nworkspace:\n  env: {GREETING: hello}\n')
  await writeFile(join(project, 'a.py'), 'print("a")\n')
})

afterAll(async () => {
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

const options = (): {cwd: string; env: NodeJS.ProcessEnv} => ({cwd: project, env: {FLEXRACK_HOME: rack.home}})
const flexrack = (...args: string[]): Promise<Ended> => program(args, options())

test('up, list, show, remove: each with a plan before, and nothing to do the second time', async () => {
  const planned = await flexrack('workspace', 'up', '--on', 'all', '--dry-run', '--json')
  expect(JSON.parse(planned.stdout).steps.map((step: {id: string}) => step.id)).toEqual([
    'sync:node-1',
    'environment:node-1',
    'sync:node-2',
    'environment:node-2',
  ])
  const up = JSON.parse((await flexrack('workspace', 'up', '--on', 'all', '--json')).stdout)
  expect(up).toMatchObject({
    project: 'demo',
    nodes: [
      {node: 'node-1', changed: 2},
      {node: 'node-2', changed: 2},
    ],
  })
  expect((await flexrack('workspace', 'up', '--dry-run')).stdout).toBe('Nothing to do for workspace up.\n')
  expect(
    (await flexrack('workspace', 'list')).stdout.split('\n').filter((line) => /^demo +node-[12] +2 /.test(line)),
  ).toHaveLength(2)
  expect(JSON.parse((await flexrack('workspace', 'show', '--on', 'node-2', '--json')).stdout)).toMatchObject([
    {node: 'node-2', project: 'demo', files: 2, processes: []},
  ])

  const refused = await flexrack('workspace', 'remove', '--on', 'node-2')
  expect(refused).toMatchObject({status: 2, stderr: expect.stringContaining('--yes')})
  expect(await flexrack('workspace', 'remove', '--on', 'node-2', '--yes')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('node-2: '),
  })
  expect(await flexrack('workspace', 'exec', '--on', 'node-2', '--', 'true')).toMatchObject({
    status: 4,
    stderr: expect.stringContaining('flexrack workspace up --on node-2'),
  })
})

test('exec on one node is the command itself: stdin, stdout, stderr, arguments, environment, exit status', async () => {
  await flexrack('workspace', 'up')
  const line = `printf 'from here ' | $FLEXRACK workspace exec -- sh -c 'cat; printf "%s|" "$@" "$GREETING"; echo problem >&2; exit 7' x --on 'a b' '*'`
  expect(await shell(line, options())).toMatchObject({
    status: 7,
    stdout: 'from here --on|a b|*|hello|',
    stderr: 'problem\n',
  })
  expect(await flexrack('workspace', 'exec', '--', 'sh', '-c', 'kill -TERM $$')).toMatchObject({status: 143})
})

test('exec on several nodes puts the node in front of each line and says which failed', async () => {
  await flexrack('workspace', 'up', '--on', 'all')
  const done = await flexrack(
    'workspace',
    'exec',
    '--on',
    'all',
    '--',
    'sh',
    '-c',
    'echo one; echo two; test $FLEXRACK_NODE = node-1',
  )
  expect(done.status).toBe(8)
  expect(done.stdout.split('\n').sort()).toEqual(['', 'node-1: one', 'node-1: two', 'node-2: one', 'node-2: two'])
  expect(done.stderr).toContain('sh failed on node-2')
})

test('Ctrl-C reaches the command on the node', async () => {
  await flexrack('workspace', 'up')
  const words = [
    'workspace',
    'exec',
    '--',
    'sh',
    '-c',
    'trap "echo interrupted; exit 9" INT; echo ready; while :; do sleep 0.05; done',
  ]
  const ended = await program(words, {
    ...options(),
    onOutput: ({stdout}, child) => stdout === 'ready\n' && child.kill('SIGINT'),
  })
  expect(ended).toMatchObject({status: 9, stdout: 'ready\ninterrupted\n'})
})

test('ssh gives a real terminal: its size, the environment, Ctrl-C, the exit status', async () => {
  expect(await flexrack('workspace', 'up')).toMatchObject({status: 0})
  const ended = await terminal(
    [resolve('bin/run.js'), 'workspace', 'ssh'],
    [
      // The program itself says that it is there: bash loses a Ctrl-C that comes after its own echo and before the
      // program has the terminal.
      ['', "echo size=$(stty size)/$GREETING; sh -c 'echo go$((1+1)); exec sleep 600'\r"],
      ['go2', '\x03'],
      ['^C', 'echo after=$?\r'],
      ['after=130', 'exit 5\r'],
    ],
    options(),
  )
  expect(ended.stdout).toContain('size=24 80/hello')
  expect(ended.status, ended.stdout).toBe(5)
})

test('forward brings a port of the node here until Ctrl-C, one object a line under --json', async () => {
  const service = createServer((socket) => socket.end('served')).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const {port} = service.address() as AddressInfo
  let seen: Promise<string> | undefined
  const ended = await program(['workspace', 'forward', `0:${port}`, '--json'], {
    ...options(),
    onOutput: ({stdout}, child) => {
      if (seen || !stdout.endsWith('\n')) return
      seen = text(connect((JSON.parse(stdout) as {localPort: number}).localPort, '127.0.0.1'))
      void seen.finally(() => child.kill('SIGINT'))
    },
  })
  service.close()
  expect(await seen).toBe('served')
  expect(ended.status).toBe(0)
  expect(JSON.parse(ended.stdout)).toMatchObject({event: 'open', node: 'node-1', remotePort: port})
})

test('remove --environments takes the environments that nothing uses then, once where nodes share them', async () => {
  const own = await startLocalRack({nodes: 2})
  try {
    const env = {FLEXRACK_HOME: own.home}
    await program(['workspace', 'up', '--on', 'all'], {cwd: project, env})
    const removed = await program(['workspace', 'remove', '--environments', '--yes', '--json'], {cwd: project, env})
    const steps = JSON.parse(removed.stdout) as {removed: unknown}[]
    expect(steps.flatMap((step) => (Array.isArray(step.removed) ? step.removed : []))).toHaveLength(1)
    expect(JSON.parse((await program(['workspace', 'list', '--json'], {cwd: project, env})).stdout)).toEqual([])
  } finally {
    await own.stop()
  }
})

test('ssh without a terminal names exec', async () => {
  expect(await flexrack('workspace', 'ssh')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('workspace exec --on node-1 -- COMMAND'),
  })
})
