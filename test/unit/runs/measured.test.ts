import {expect, test} from 'vitest'
import {figureFields} from '../../../src/cli/runs/figures-text.ts'
import type {MeasuredPart, NodeRunDetail, RankRecord} from '../../../src/lib/protocol/index.ts'
import {rankProgress} from '../../support/rank-progress.ts'
import {runFigures} from '../../../src/lib/runs/measured.ts'

const progress = (steps: number, samples: number, step_seconds: number, data_wait: number, tokens = 0) =>
  rankProgress({steps, samples, tokens, step_seconds, data_wait})
const hardware = (gpus: string[], used: number, cpu: number): MeasuredPart['hardware'] => ({
  machine: 'm',
  interface: 'eth0',
  gpus,
  cores: 8,
  attempts: {
    '1': {
      seconds: 100,
      cpu,
      memory: 1,
      net: [1000, 500],
      rdma: null,
      ranks: {'0': {seconds: 100, cpu: 250, peak: 77}},
      gpus: Object.fromEntries(gpus.map((_, index) => [index, {seconds: 100, used, peak: 1}])),
    },
  },
})
const record = (rank: number, node: string, more: Partial<RankRecord> = {}): RankRecord => ({
  rank,
  local_rank: 0,
  node,
  pid: 1,
  started: 1000,
  ended: 1900,
  exit: 0,
  cpu: 720,
  ...more,
})
const detail = (
  node: string,
  records: Record<string, RankRecord[]>,
  live = false,
): Pick<NodeRunDetail, 'node' | 'records' | 'live'> => ({
  node,
  live,
  records: Object.fromEntries(
    Object.entries(records).map(([attempt, list]) => [attempt, Object.fromEntries(list.map((one) => [one.rank, one]))]),
  ),
})

test('throughput is of the steps after the first, summed over ranks; waiting for data is told in seconds and as a share', () => {
  const measured: MeasuredPart[] = [
    {node: 'a', index: 0, hardware: null, attempts: {'1': {'0': progress(11, 352, 10, 1)}}},
    {node: 'b', index: 1, hardware: null, attempts: {'1': {'1': progress(11, 352, 20, 4)}}},
  ]
  const figures = runFigures(measured, [], 0)
  expect(figures).toMatchObject({attempt: 1, samplesPerSecond: 32 + 16, tokensPerSecond: null, gpuHours: 0, gpu: null})
  expect(figures.dataWait).toEqual({seconds: 5, share: 5 / 30})
  expect(figures.ranks.map((one) => [one.rank, one.node, one.samplesPerSecond, one.dataWait?.share])).toEqual([
    [0, 'a', 32, 0.1],
    [1, 'b', 16, 0.2],
  ])
})

test('rates are of the newest attempt in which something was told; GPU and core hours are of all', () => {
  const measured: MeasuredPart[] = [
    {
      node: 'a',
      index: 0,
      hardware: hardware(['GPU-a', 'GPU-b'], 80, 50),
      attempts: {'1': {'0': progress(3, 96, 2, 0)}, '2': {'0': progress(5, 160, 2, 0)}, '3': {}},
    },
  ]
  const figures = runFigures(
    measured,
    [detail('a', {'1': [record(0, 'a')], '2': [record(0, 'a', {started: 2000, ended: 2900})]})],
    0,
  )
  expect(figures).toMatchObject({
    attempt: 2,
    samplesPerSecond: 64,
    gpuHours: 1,
    cpuHours: 0.4,
    cpu: 50,
    gpu: 80,
    received: 1000,
    sent: 500,
  })
})

test('a run that goes on has had its GPUs until now, and its CPU time is what was seen', () => {
  const measured: MeasuredPart[] = [{node: 'a', index: 0, hardware: hardware(['GPU-a'], 80, 50), attempts: {}}]
  const {ended: _, exit: __, cpu: ___, ...open} = record(0, 'a')
  expect(runFigures(measured, [detail('a', {'1': [open]}, true)], 1000 + 7200)).toMatchObject({
    gpuHours: 2,
    cpuHours: 250 / 3600,
    samplesPerSecond: null,
    attempt: null,
  })
})

test('network is counted once a machine, and not at all where the nodes meet on loopback', () => {
  const node = (name: string, index: number, more: object): MeasuredPart => ({
    node: name,
    index,
    hardware: {...hardware([], 0, 50), ...more} as MeasuredPart['hardware'],
    attempts: {},
  })
  const figures = (first: object, second: object) => runFigures([node('a', 0, first), node('b', 1, second)], [], 0)
  expect(figures({machine: 'm'}, {machine: 'n'})).toMatchObject({received: 2000, sent: 1000})
  expect(figures({machine: 'm'}, {machine: 'm'})).toMatchObject({received: 1000, sent: 500})
  expect(figures({machine: 'm'}, {machine: 'm', interface: 'eth1'})).toMatchObject({received: 2000, sent: 1000})
  const local = figures({interface: 'lo'}, {interface: 'lo'})
  expect(local).toMatchObject({received: null, sent: null, cpu: 50})
  expect(figureFields(local, null).find(([name]) => name === 'used')?.[1]).toBe('CPUs busy 50 %')
})

test('nothing measured is nothing said, not nought', () => {
  const figures = runFigures([{node: 'a', index: 0, hardware: null, attempts: {}}], [], 0)
  expect(figureFields(figures, null).filter(([, value]) => value)).toEqual([])
})

test('ranks are told of one by one, many by the slowest and the fastest', () => {
  const ranks = (count: number): MeasuredPart[] => [
    {
      node: 'a',
      index: 0,
      hardware: null,
      attempts: {
        '1': Object.fromEntries(
          Array.from({length: count}, (_, rank) => [rank, progress(11, 110 * (rank + 1), 10, 0)]),
        ),
      },
    },
  ]
  const text = (count: number): string | undefined =>
    figureFields(runFigures(ranks(count), [], 0), null).find(([name]) => name === 'throughput')?.[1]
  expect(text(2)).toBe('30 samples/s\nrank 0 on a: 10\nrank 1 on a: 20')
  expect(text(64)).toBe('20800 samples/s; a rank 10 (rank 0 on a) to 640')
})

test('scaling says what it was compared with, or why with nothing', () => {
  const figures = {...runFigures([], [], 0), samplesPerSecond: 1024}
  const scaling = (more: object): string | undefined =>
    figureFields(figures, {
      efficiency: null,
      reference: null,
      referenceNodes: null,
      referenceRate: null,
      unit: null,
      why: 'it ran on one node',
      ...more,
    })[1]?.[1]
  expect(scaling({})).toBe('not known: it ran on one node')
  expect(
    scaling({
      efficiency: 0.934,
      reference: 'digits-abc',
      referenceNodes: 1,
      referenceRate: 512,
      unit: 'samples',
      why: 'as asked for',
    }),
  ).toBe('93 % of linear from digits-abc, which had 512 samples/s on 1 node (as asked for)')
  // Without a throughput there is nothing to scale, and that has been said.
  const none = {
    efficiency: null,
    reference: null,
    referenceNodes: null,
    referenceRate: null,
    unit: null,
    why: 'its ranks did not tell',
  }
  expect(figureFields(runFigures([], [], 0), none)[1]?.[1]).toBeUndefined()
})
