import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {buildProgram, flexrack} from '../support/program.ts'
import {startTrainRack, type TrainRack} from '../support/train.ts'

let setup: TrainRack
let project: string

beforeAll(async () => {
  buildProgram()
  setup = await startTrainRack(2)
  project = await mkdtemp(join(tmpdir(), 'flexrack-e2e-reservation-'))
  await writeFile(
    join(project, 'flexrack.yaml'),
    'name: proj\ntrain: {command: train.py, launcher: plain, nodes: 2, grace: 1s, exclusive: true}\n',
  )
  await writeFile(join(project, 'train.py'), 'import time\nwhile True: time.sleep(0.05)\n')
})
afterAll(async () => {
  await setup?.stop()
  await rm(project, {recursive: true, force: true})
})

const run = (...args: string[]) => flexrack(args, {cwd: project, env: setup.rack.env})

test('who has the nodes is shown everywhere, told to who comes second, and freed by who may and says so', async () => {
  const free = await run('train', '--no-tracking', '--dry-run')
  expect(free.stdout).toMatch(/Reserve node-1, node-2, all or none \(each: 1 slot, the whole node\)/)
  expect(free.stdout).toContain('Nobody has reserved anything on these nodes.')

  const {run: first} = JSON.parse((await run('train', '--no-tracking', '--detach', '--json')).stdout) as {run: string}
  const refused = await run('train', '--no-tracking', '--no-exclusive')
  expect(refused.status).toBe(4)
  expect(refused.stderr).toMatch(
    new RegExp(`node-1, node-2: ${first} of \\S+ has the whole node since .*, until its run ends`),
  )
  expect(refused.stderr).toContain('flexrack train --wait')

  const held = await run('train', '--no-tracking', '--dry-run')
  expect(held.stdout).toMatch(new RegExp(`node-2 +${first} .* 1 slot, the whole node +running`))
  const status = JSON.parse((await run('status', '--json')).stdout) as {reservations: unknown[]; unknown: unknown[]}
  expect(status).toMatchObject({
    reservations: [
      {at: 'node-1', lease: first},
      {at: 'node-2', lease: first},
    ],
    unknown: [],
  })
  expect((await run('status')).stdout).toMatch(new RegExp(`reservations\\n.*\\n +node-1 +${first}`))
  expect(JSON.parse((await run('rack', 'reservations', '--on', 'node-2', '--json')).stdout)).toMatchObject([
    {node: 'node-2', ok: true, value: {shared: true, reservations: [{lease: first, state: 'running'}]}},
  ])

  const kept = await run('rack', 'release', first)
  expect([kept.status, kept.stderr]).toEqual([
    4,
    expect.stringContaining('is running on node-1 and gives its nodes back when it ends'),
  ])
  expect((await run('rack', 'release', first, '--user', 'nobody@nowhere', '--force', '--yes')).status).toBe(5)
  expect((await run('rack', 'release', first, '--force')).status).toBe(2) // it would ask
  expect((await run('rack', 'release', first, '--force', '--dry-run')).stdout).toContain('and end its ranks')
  const freed = await run('rack', 'release', first, '--force', '--yes')
  expect([freed.status, freed.stdout]).toEqual([0, expect.stringContaining(`Freed node-1, node-2 of ${first}`)])
  expect((await run('runs', 'wait', first)).status).toBe(6)
  expect(await setup.alive(first)).toEqual([])
  expect((await run('rack', 'reservations')).stdout).toContain('Nothing is reserved.')
})
