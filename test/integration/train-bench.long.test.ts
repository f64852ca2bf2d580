import {readFile} from 'node:fs/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {connectHead, startHead} from '../../src/lib/head/index.ts'
import {openMlflow} from '../../src/lib/tracking/index.ts'
import {trainBench} from '../support/bench.ts'
import {startTrainRack, textOf, type TrainRack} from '../support/train.ts'

const REQUIREMENTS = new URL('../../templates/pytorch-ddp/requirements.txt', import.meta.url)
let setup: TrainRack

beforeAll(async () => {
  setup = await startTrainRack(2)
  await startHead(setup.rack.rack, setup.rack.fleet(), setup.rack.context())
}, 900_000)
afterAll(() => setup?.stop())

test('the benchmark of ResNet-50 on two nodes records what it measured', {timeout: 600_000}, async () => {
  const head = await connectHead(setup.rack.rack, setup.rack.fleet(), setup.rack.context())
  const client = openMlflow({uri: head.uri, token: head.token})
  const {bench, lines} = await trainBench(setup, await readFile(REQUIREMENTS, 'utf8'), client, {
    spec: {launcher: 'torchrun'},
    words: ['--model', 'resnet50', '--windows', '2', '--steps', '1'],
    params: {model: 'resnet50', size: 'small', batch: '4', length: '64', world_size: '2', nodes: '2', device: 'cpu'},
  })
  expect(bench).toMatchObject({parameters: 25_557_032, nodes: 2, unit: 'images'})
  expect(bench.loss.last).toBeLessThan(bench.loss.first - 1)
  expect(textOf(lines, 0)[0]).toMatch(
    /^resnet50, 25,557,032 parameters, (fp32|bf16), batch 4 of 64 x 64 pixels a rank, 2 ranks, cpu$/,
  )
  expect(
    [0, 1].map((rank) => textOf(lines, rank).some((line) => /^rank \d on node-\d: [\d,.]+ images\/s/.test(line))),
  ).toEqual([true, true])
})
