import {expect, test} from 'vitest'
import type {NodeRun, RankReported} from '../../../src/lib/protocol/index.ts'
import {RecentSteps} from '../../../src/lib/runs/recent.ts'
import type {FoundRun} from '../../../src/lib/runs/types.ts'
import {runView, type SeenPart} from '../../../src/lib/runs/view.ts'

const run: FoundRun = {
  run: 'digits-1',
  nodes: ['a', 'b'].map(
    (node, index) =>
      ({
        run: 'digits-1',
        node,
        index,
        term: 1,
        leader: 'a',
        nodes: ['a', 'b'],
        processes: 1,
        status: 'running',
        started: 100,
        created: 90,
        attempt: 1,
      }) as NodeRun,
  ),
}
const reported = (steps: number, seconds: number, wait: number, samples = steps * 32): RankReported => [
  steps,
  samples,
  0,
  seconds / Math.max(1, steps - 1),
  wait,
  seconds,
  0,
  0,
  '',
]
const part = (node: string, rank: number, value: RankReported | null, more: Partial<SeenPart> = {}): SeenPart => ({
  node,
  term: 1,
  leader: 'a',
  status: 'running',
  attempt: 1,
  cores: 8,
  memory_total: 1000,
  gpu_memory: {},
  ranks: {[rank]: value},
  hardware: {
    t: 1,
    s: 5,
    attempt: 1,
    cpu: 50,
    memory: 400,
    net: [10, 20],
    rdma: null,
    disk: [0, 0],
    ranks: {[rank]: [150, 30, 0, 0, 2]},
    gpus: {},
  },
  ...more,
})
const view = (parts: SeenPart[], metrics: {key: string; value: number; step: number}[] = []) =>
  runView(run, {parts, lost: [], metrics: metrics.map((one) => ({...one, timestamp: 0})), away: null, now: 160_000})

test('throughput is that of all ranks, steps are those of the slowest, and what a node uses stands beside what its ranks do', () => {
  const seen = view([part('b', 1, reported(11, 2, 0.5)), part('a', 0, reported(12, 1.1, 0))])
  expect(seen).toMatchObject({
    status: 'running',
    elapsed: 60_000,
    worldSize: 2,
    step: {least: 11, most: 12},
    tokensPerSecond: null,
  })
  expect(seen.stepsPerSecond).toBeCloseTo(5)
  expect(seen.samplesPerSecond).toBeCloseTo(32 * 5 + 32 * 10)
  expect(seen.dataWait).toBeCloseTo(0.125)
  expect(seen.nodes.map((one) => [one.node, one.cpu, one.netIn, one.memoryTotal, one.step])).toEqual([
    ['a', 50, 10, 1000, 12],
    ['b', 50, 10, 1000, 11],
  ])
  expect(seen.ranks.map((one) => [one.rank, one.node, one.cpu, one.memory])).toEqual([
    [0, 'a', 150, 30],
    [1, 'b', 150, 30],
  ])
})

test("what InfiniBand carries counts as network, and a node's GPUs are told together", () => {
  const {hardware} = part('a', 0, null)
  const gpus = {'0': [90, 600, 300, 60], '1': [70, 400, null, 55]} as NonNullable<SeenPart['hardware']>['gpus']
  const [node] = view([
    part('a', 0, null, {
      gpu_memory: {'0': 1000, '1': 1000},
      hardware: {...(hardware as NonNullable<typeof hardware>), rdma: [1000, 2000], gpus},
    }),
  ]).nodes
  expect(node).toMatchObject({
    netIn: 1010,
    netOut: 2020,
    gpus: 2,
    gpu: 80,
    gpuMemory: 1000,
    gpuMemoryTotal: 2000,
    power: 300,
  })
})

test('a rank that tells nothing of itself has no step and no rate; the highest step of a metric is told instead', () => {
  expect(
    view(
      [part('a', 0, null)],
      [
        {key: 'loss', value: 0.5, step: 40},
        {key: 'accuracy', value: 0.9, step: 38},
      ],
    ),
  ).toMatchObject({step: {least: 40, most: 40}, stepsPerSecond: null, samplesPerSecond: null, dataWait: null})
  expect(view([part('a', 0, null)])).toMatchObject({step: null})
})

test('after a restart a node that still tells of the attempt before is not counted', () => {
  const seen = view([part('a', 0, reported(5, 1, 0), {attempt: 2}), part('b', 1, reported(900, 100, 0))])
  expect(seen).toMatchObject({attempt: 2, step: {least: 5, most: 5}})
  expect(seen.ranks.map((one) => one.rank)).toEqual([0])
})

test('rates are of the newest steps: a run that became slow is told as slow', () => {
  const recent = new RecentSteps()
  let newest = recent.take(part('a', 0, reported(1000, 10, 0)), 0)
  expect(view([newest]).stepsPerSecond).toBeCloseTo(99.9)
  for (let second = 2; second <= 60; second += 2)
    newest = recent.take(part('a', 0, reported(1000 + second, 10 + second, second / 2)), second * 1000)
  expect(view([newest]).stepsPerSecond).toBeCloseTo(1)
  expect(view([newest]).dataWait).toBeCloseTo(0.5)
  expect(newest.recent?.['0']?.steps).toBeLessThanOrEqual(14)
})

test('steps that take longer than two looks are still told at their pace, and another attempt begins anew', () => {
  const recent = new RecentSteps()
  let newest: SeenPart | undefined
  for (let second = 0; second <= 90; second += 2)
    newest = recent.take(
      part('a', 0, reported(2 + Math.floor(second / 30), 30 + 30 * Math.floor(second / 30), 0)),
      second * 1000,
    )
  expect(newest?.recent?.['0']).toMatchObject({steps: 1, seconds: 30})
  expect(recent.take(part('a', 0, reported(1, 0, 0), {attempt: 2}), 92_000).recent).toEqual({})
})
