import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {followRun, openRuns, type RankLine} from '../../src/lib/runs/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan} from '../../src/lib/train/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'

let sshd: TestSshd
let folder: string
let rack: Rack

beforeAll(async () => {
  sshd = await startSshd({config: 'MaxSessions 2'})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-train-sshd-'))
  const environments = await sharedEnvironments()
  const nodes = ['one', 'two'].map((name) => ({...sshd.target(name), root: `~/${name}`, environments, labels: {}}))
  rack = {name: 'real', path: join(folder, 'real.yaml'), nodes, head: {node: 'one', bind: '127.0.0.1'}}
})
afterAll(async () => {
  await sshd?.stop()
  await rm(folder, {recursive: true, force: true})
})

test('a run on OpenSSH servers goes on when every connection is closed, and is found again', async () => {
  const go = join(folder, 'go')
  await writeFile(
    join(folder, 'train.py'),
    `import os, time\nprint("up", flush=True)\nwhile not os.path.exists(${JSON.stringify(go)}): time.sleep(0.02)\nprint("done")\n`,
  )
  const manifest: Manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'proj',
    workspace: {exclude: [], forward: [], env: {}},
    train: {
      command: ['train.py'],
      launcher: 'plain',
      nodes: 2,
      processesPerNode: 1,
      restarts: 0,
      outputs: [],
      env: {},
      grace: 5,
    },
    tracking: {experiment: 'proj'},
    endpoints: {},
  }
  const context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}})
  const first = openFleet(rack.nodes, context)
  const plan = await planTrain({manifest, rack, fleet: first}, {args: [], tracking: false}, context)
  const {run} = await runPlan(plan, {manifest, rack, fleet: first}, {detach: true, onLines: () => {}}, context)
  await first.close()

  const second = openFleet(rack.nodes, context)
  const runs = openRuns({rack, fleet: second}, context)
  expect((await runs.list({all: true, limit: 5})).runs[0]).toMatchObject({
    run,
    status: 'running',
    nodes: ['one', 'two'],
  })
  const lines: RankLine[] = []
  const following = followRun(
    runs.place,
    await runs.find(run),
    {
      follow: true,
      onLines: (some) => {
        lines.push(...some)
        if (lines.length === 2) void writeFile(go, '')
      },
    },
    context,
  )
  const {details} = await following
  expect([...details.values()].map((one) => [one.node, one.status, one.alive])).toEqual([
    ['one', 'finished', []],
    ['two', 'finished', []],
  ])
  expect(lines.map((line) => line.text).toSorted()).toEqual(['done', 'done', 'up', 'up'])
  await second.close()
})
