import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {buildProgram, flexrack, type RunOptions} from '../support/program.ts'
import {startTrainRack, type TrainRack} from '../support/train.ts'

let setup: TrainRack
let project: string

beforeAll(async () => {
  buildProgram()
  setup = await startTrainRack(2)
  project = await mkdtemp(join(tmpdir(), 'flexrack-e2e-train-'))
  await writeFile(
    join(project, 'flexrack.yaml'),
    'name: proj\ntrain: {command: train.py, launcher: plain, nodes: 2, grace: 5s}\n',
  )
  await writeFile(
    join(project, 'train.py'),
    `import os, sys, time
print("rank", os.environ["RANK"], *sys.argv[1:], flush=True)
if "fail" in sys.argv and os.environ["RANK"] == "1": sys.exit("no such digit")
if "long" in sys.argv or "fail" in sys.argv:
    while True: time.sleep(0.05)
`,
  )
})
afterAll(async () => {
  await setup?.stop()
  await rm(project, {recursive: true, force: true})
})

const run = (args: string[], options: RunOptions = {}) =>
  flexrack(args, {cwd: project, env: setup.rack.env, ...options})
const bothUp = (text: string): boolean => text.includes('node-1:0 | rank 0') && text.includes('node-2:1 | rank 1')

test('train shows the lines of all ranks with node and rank, and a summary; it exits with 0', async () => {
  const {status, stdout, stderr} = await run(['train', '--no-tracking', '--', '--epochs', '2'])
  expect(stderr).not.toMatch(/warning|error/)
  expect(status).toBe(0)
  expect(
    stdout
      .split('\n')
      .filter((line) => line.includes(' | rank'))
      .toSorted(),
  ).toEqual(['node-1:0 | rank 0 --epochs 2', 'node-2:1 | rank 1 --epochs 2'])
  expect(stdout).toMatch(/run: +proj-\w{5} finished/)
  expect(stdout).toMatch(/time: .*training/)
})

test('a run that fails exits with 6 and names the first cause', async () => {
  const {status, stderr} = await run(['train', '--no-tracking', '--', 'fail'])
  expect(status).toBe(6)
  expect(stderr).toMatch(/run proj-\w{5} failed: rank 1 on node-2 ended with exit code 1: no such digit/)
})

test('--json gives one object a line while it runs, and the result last', async () => {
  const {status, stdout} = await run(['train', '--no-tracking', '--json'])
  expect(status).toBe(0)
  const values = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(values[0]).toMatchObject({attempt: 1, offset: 0, text: expect.stringMatching(/^rank [01]$/)})
  expect(values.at(-1)).toMatchObject({result: {status: 'finished', worldSize: 2}})
})

test('Ctrl-C stops the run, says that nothing is left, and exits with 130', async () => {
  let sent = false
  const {status, stdout} = await run(['train', '--no-tracking', '--', 'long'], {
    onOutput: (output, child) => {
      if (!sent && bothUp(output.stdout)) sent = child.kill('SIGINT')
    },
  })
  expect(status).toBe(130)
  expect(stdout).toMatch(/proj-\w{5} stopped/)
  expect(stdout).toContain('no process of the run on node-1, node-2')
})

test('a run outlives kill -9 of the command; logs, wait and stop find it again', async () => {
  let killed = false
  const {signal} = await run(['train', '--no-tracking', '--', 'long'], {
    onOutput: (output, child) => {
      if (!killed && bothUp(output.stdout)) killed = child.kill('SIGKILL')
    },
  })
  expect(signal).toBe('SIGKILL')
  const {runs} = JSON.parse((await run(['runs', 'list', '--json'])).stdout) as {runs: {run: string; status: string}[]}
  expect(runs[0]?.status).toBe('running')
  const logs = await run(['runs', 'logs'])
  expect(bothUp(logs.stdout)).toBe(true)
  expect((await run(['runs', 'wait', '--timeout', '0'])).status).toBe(9)
  const stopped = await run(['runs', 'stop'])
  expect(stopped.stdout).toContain('no process of it is left on node-1, node-2')
  expect(await setup.alive(runs[0]?.run as string)).toEqual([])
  expect((await run(['runs', 'wait'])).status).toBe(6)
})

test('a detached run is followed from the beginning to the end by another command', async () => {
  const started = await run(['train', '--no-tracking', '--detach', '--json', '--name', 'later'])
  const {run: id, status} = JSON.parse(started.stdout) as {run: string; status: string}
  expect(status).toBe('running')
  const followed = await run(['runs', 'logs', id, '--follow', '--json'])
  expect(
    followed.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as {text: string}).text)
      .toSorted(),
  ).toEqual(['rank 0', 'rank 1'])
  expect((await run(['runs', 'wait', id])).status).toBe(0)
})

test('what is wrong is told without a touch on any node', async () => {
  const many = await run(['train', '--nodes', '9', '--no-tracking'])
  expect(many.status).toBe(4)
  expect(many.stderr).toContain('9 nodes are asked for, and rack local has 2')
  const untracked = await run(['train'])
  expect(untracked.status).toBe(6)
  expect(untracked.stderr).toContain('flexrack head start')
  const missing = await run(['runs', 'show', 'proj-zzzzz'])
  expect(missing.status).toBe(4)
})

test('--dry-run prints the plan and starts nothing', async () => {
  const before = (await run(['runs', 'list', '--json'])).stdout
  const plan = await run(['train', '--dry-run', '--no-tracking'])
  expect(plan.stdout).toContain('Start rank 1 of 2: train.py')
  expect((await run(['runs', 'list', '--json'])).stdout).toBe(before)
})
