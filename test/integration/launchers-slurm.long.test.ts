import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import type {Manifest, TrainSpec} from '../../src/lib/manifest/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {openRuns, stopRun, type RankLine} from '../../src/lib/runs/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan, type Trained} from '../../src/lib/train/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startSlurm, type TestSlurm} from '../support/slurm.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'
import {processesOf} from '../support/tagged.ts'

/** Clusters and trainings of several nodes on one machine, which may be busy. */
vi.setConfig({testTimeout: 1_800_000})
/** Ray's workers are as nice as can be, and get nothing done where a machine has other work. */
const EAGER = {RAY_worker_niceness: '0'}
const FRAMEWORKS = new URL('../fixtures/tracking/frameworks.txt', import.meta.url)
const script = (name: string): Promise<string> =>
  readFile(new URL(`../fixtures/launchers/${name}_sum.py`, import.meta.url), 'utf8')

let slurm: TestSlurm
let sshd: TestSshd
let folder = ''
let rack: Rack
let fleet: Fleet
let context: Context

beforeAll(async () => {
  slurm = await startSlurm(2)
  sshd = await startSshd({env: slurm.env})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-launchers-slurm-'))
  await mkdir(join(folder, 'project'))
  await writeFile(join(folder, 'project/requirements.txt'), await readFile(FRAMEWORKS, 'utf8'))
  const login = {
    ...sshd.target('login'),
    root: `${sshd.home}/.flexrack`,
    environments: await sharedEnvironments(),
    labels: {},
  }
  rack = {
    name: 'cluster',
    path: join(folder, 'cluster.yaml'),
    nodes: [login],
    head: {node: 'login', bind: '127.0.0.1'},
    slurm: {login: 'login', extra: []},
  }
  context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}})
  fleet = openFleet(rack.nodes, context)
}, 600_000)
afterAll(async () => {
  await fleet?.close()
  await slurm?.stop()
  await sshd?.stop()
  if (folder !== '') await rm(folder, {recursive: true, force: true})
})

async function train(
  launcher: TrainSpec['launcher'],
  env: Record<string, string> = {},
  on: {line?: string; act?: (run: string) => Promise<unknown>} = {},
): Promise<{trained: Trained; lines: RankLine[]}> {
  await writeFile(join(folder, 'project/train.py'), await script(launcher))
  const manifest: Manifest = {
    path: join(folder, 'project/flexrack.yaml'),
    folder: join(folder, 'project'),
    name: 'launched',
    workspace: {python: 'requirements.txt', exclude: [], forward: [], env: {}},
    train: {
      command: ['train.py'],
      launcher,
      nodes: 2,
      processesPerNode: launcher === 'ray' ? 1 : 2,
      restarts: 0,
      outputs: [],
      env: {...EAGER, ...env},
      grace: 5,
    },
    tracking: {experiment: 'launched'},
    endpoints: {},
  }
  const place = {manifest, rack, fleet}
  const plan = await planTrain(place, {args: [], tracking: false}, context)
  const lines: RankLine[] = []
  let acting: Promise<unknown> | undefined
  const trained = await runPlan(
    plan,
    place,
    {
      detach: false,
      onLines: (some) => {
        lines.push(...some)
        if (on.line !== undefined && lines.some((line) => line.text === on.line)) acting ??= on.act?.(plan.spec.run)
      },
    },
    context,
  )
  await acting
  expect(await processesOf(trained.run)).toEqual([])
  return {trained, lines}
}

const said = (lines: RankLine[], start: string): string[] =>
  lines
    .filter((line) => line.text.startsWith(start))
    .map((line) => line.text)
    .toSorted((a, b) => a.localeCompare(b))

test('accelerate in a job of Slurm: ranks of both nodes reduce; one that exits with 17 is the first cause', async () => {
  const {trained, lines} = await train('accelerate')
  expect(trained, JSON.stringify(lines)).toMatchObject({status: 'finished', worldSize: 4})
  expect(said(lines, 'sum').map((line) => line.split(':')[0]?.replace(/ on .*/, ''))).toEqual(
    [0, 1, 2, 3].map((rank) => `sum 10 rank ${rank} of 4`),
  )
  expect((await train('accelerate', {FAILING_RANK: '3'})).trained).toMatchObject({
    status: 'failed',
    cause: {kind: 'rank', rank: 3, exit: 17},
  })
})

test('deepspeed in a job of Slurm: ranks of both nodes reduce, and train with ZeRO; one that exits with 17 is the first cause', async () => {
  const {trained, lines} = await train('deepspeed')
  expect(trained, JSON.stringify(lines)).toMatchObject({status: 'finished', worldSize: 4})
  expect(said(lines, 'sum').map((line) => line.replace(/ on .*/, ''))).toEqual(
    [0, 1, 2, 3].map((rank) => `sum 10 rank ${rank} of 4`),
  )
  expect(said(lines, 'trained')).toEqual(Array.from({length: 4}, () => 'trained DeepSpeedEngine stage 1'))
  expect((await train('deepspeed', {FAILING_RANK: '3'})).trained).toMatchObject({
    status: 'failed',
    cause: {kind: 'rank', rank: 3, exit: 17},
  })
})

test('ray in a job of Slurm: a cluster of both nodes', async () => {
  const {trained, lines} = await train('ray', {FAILING: 'none'})
  expect(trained, JSON.stringify(lines)).toMatchObject({status: 'finished', worldSize: 2})
  expect(said(lines, 'nodes')).toEqual([expect.stringMatching(/^nodes 2 c[12] rank None$/)])
  expect([said(lines, 'ran on'), said(lines, 'data'), said(lines, 'trained')]).toEqual([
    ['ran on c1 c2'],
    ['data 9900'],
    ['trained'],
  ])
})

test("ray in a job of Slurm: the script's status is the run's; the dashboard is reached through the login node, with the token alone, and a stop ends all", async () => {
  expect((await train('ray', {FAILING: 'script'})).trained).toMatchObject({
    status: 'failed',
    cause: {kind: 'rank', rank: 0, exit: 17},
  })
  const runs = openRuns({rack, fleet}, context)
  const answers: number[] = []
  const waiting = await train(
    'ray',
    {FAILING: 'wait'},
    {
      line: 'waiting',
      act: async (run) => {
        try {
          const forwarded = await runs.dashboard(await runs.find(run))
          const ask = async (headers: Record<string, string>): Promise<number> =>
            (await fetch(`${forwarded.url}/api/cluster_status`, {headers})).status
          answers.push(await ask({}), await ask({authorization: `Bearer ${forwarded.token.reveal()}`}))
          await forwarded.close()
        } finally {
          await stopRun(runs.place, await runs.find(run), {}, context)
        }
      },
    },
  )
  expect(waiting.trained.status, JSON.stringify([waiting.trained.cause, waiting.lines.slice(-20)])).toBe('stopped')
  expect(answers).toEqual([401, 200])
})
