import {readFile, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {startTrainRack, textOf, type TrainRack} from '../support/train.ts'

const SCRIPT = new URL('../fixtures/launchers/accelerate_sum.py', import.meta.url)
const TORCH = new URL('../../templates/pytorch-ddp/requirements.txt', import.meta.url)
let setup: TrainRack
let requirements: string

beforeAll(async () => {
  setup = await startTrainRack(2)
  requirements = `${await readFile(TORCH, 'utf8')}accelerate==1.15.0\n`
}, 900_000)
afterAll(() => setup?.stop())

test(
  'accelerate on two nodes: its config is made from the plan, what the project says in accelerate.yaml stays',
  {timeout: 900_000},
  async () => {
    // What it says of machines is another rack's, and a hostname would be asked for by ssh.
    await writeFile(
      join(setup.folder, 'accelerate.yaml'),
      'distributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_machines: 8\nnum_processes: 64\nmachine_rank: 5\nmain_process_ip: elsewhere.example\n',
    )
    const {trained, lines} = await setup.train(await readFile(SCRIPT, 'utf8'), {
      requirements,
      spec: {launcher: 'accelerate', processesPerNode: 2},
    })
    await rm(join(setup.folder, 'accelerate.yaml'))
    expect(trained, JSON.stringify(lines)).toMatchObject({
      status: 'finished',
      worldSize: 4,
      left: {'node-1': [], 'node-2': []},
    })
    const sums = [0, 1, 2, 3].map((rank) => textOf(lines, rank).find((line) => line.startsWith('sum')))
    expect(sums).toEqual(
      [0, 1, 2, 3].map((rank) => `sum 10 rank ${rank} of 4 on node-${rank < 2 ? 1 : 2}: MULTI_CPU bf16`),
    )
    expect([0, 1, 2, 3].map((rank) => textOf(lines, rank).includes('trained DistributedDataParallel'))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(await setup.alive(trained.run)).toEqual([])
  },
)

test('accelerate: a rank that exits with 17 ends all, and is the first cause', {timeout: 600_000}, async () => {
  // Both launchers are Accelerate's and import PyTorch; what its ranks do while they are up is of no account.
  const script = 'import os, time\nif os.environ["RANK"] == "1": os._exit(17)\nwhile True: time.sleep(0.05)\n'
  const {trained} = await setup.train(script, {requirements, spec: {launcher: 'accelerate'}})
  expect(trained).toMatchObject({status: 'failed', cause: {kind: 'rank', rank: 1, node: 'node-2', exit: 17}})
  expect(await setup.alive(trained.run)).toEqual([])
})

test('an environment without accelerate is told what to add', {timeout: 600_000}, async () => {
  const {trained} = await setup.train(await readFile(SCRIPT, 'utf8'), {
    requirements: '# nothing\n',
    spec: {launcher: 'accelerate'},
  })
  expect(trained.cause?.message).toContain('add accelerate to workspace.python')
})
