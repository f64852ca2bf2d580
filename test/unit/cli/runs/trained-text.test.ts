import {stripVTControlCharacters} from 'node:util'
import {expect, it} from 'vitest'
import {trainedText} from '../../../../src/cli/runs/text.ts'
import type {Trained} from '../../../../src/lib/train/index.ts'

function trained(metrics: Record<string, number>): Trained {
  return {
    run: 'digits-k3x9a',
    status: 'finished',
    exit: 0,
    cause: null,
    nodes: ['node-1'],
    leader: 'node-1',
    worldSize: 1,
    attempts: 1,
    times: {sync: 0, environment: 0, preflight: 0, start: 0, training: 1000, recording: 0, total: 1000},
    pace: null,
    metrics: Object.entries(metrics).map(([key, value]) => ({key, value, timestamp: 1, step: 1})),
    outputs: [],
    experiment: 'digits',
    trackedId: '1',
    recorded: true,
    left: {},
    slurm: null,
  }
}

function metricLine(metrics: Record<string, number>): string | undefined {
  return stripVTControlCharacters(trainedText(trained(metrics)))
    .split('\n')
    .find((line) => line.startsWith('metrics:'))
}

it('ends with every metric where there are few', () => {
  expect(metricLine({accuracy: 0.97, loss: 0.031})).toBe('metrics: loss 0.031  accuracy 0.97')
  expect(metricLine({})).toBeUndefined()
})

it('ends with the first few of many metrics, the loss first, and how many more there are', () => {
  const many = Object.fromEntries([
    ...Array.from({length: 599}, (_, at): [string, number] => [`layer_${String(at).padStart(3, '0')}_gradient`, at]),
    ['val_loss', 0.5] as [string, number],
  ])
  expect(metricLine(many)).toBe(
    'metrics: val_loss 0.5  layer_000_gradient 0  layer_001_gradient 1  layer_002_gradient 2  layer_003_gradient 3  layer_004_gradient 4, and 594 more',
  )
})
