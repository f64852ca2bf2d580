import {expect, test} from 'vitest'
import {trialChoice, trialSize} from '../../../src/lib/sweep/trial-choice.ts'
import {placeRun} from '../../../src/lib/train/place.ts'
import type {Manifest} from '../../../src/lib/manifest/index.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'

const manifest = (train: object): Manifest => ({
  path: '/p/flexrack.yaml',
  folder: '/p',
  name: 'p',
  workspace: {exclude: [], forward: [], env: {}},
  tracking: {experiment: 'p'},
  endpoints: {},
  train: {
    command: ['train.py'],
    launcher: 'plain',
    nodes: 1,
    processesPerNode: 1,
    restarts: 0,
    outputs: [],
    env: {},
    grace: 5,
    ...train,
  },
})
const rack = {
  name: 'r',
  path: '/r.yaml',
  head: {node: 'a'},
  nodes: ['a', 'b', 'c', 'd'].map((name) => ({name})),
} as unknown as Rack
const placed = (train: object): {nodes: string[]; elastic: boolean} => {
  const own = manifest(train)
  const spec = placeRun(own, rack, trialChoice(own.train as NonNullable<Manifest['train']>, {}), 'abcde')
  return {nodes: spec.placements.map((one) => one.node.name), elastic: spec.size !== undefined}
}

test('every trial of an elastic run has the least number of nodes, and that many always', () => {
  expect(trialSize({nodes: 8, minNodes: 2})).toBe(2)
  expect(placed({nodes: 4, minNodes: 2})).toEqual({nodes: ['a', 'b'], elastic: false})
})

test('a trial of a fixed size has that, and spares are not kept for it', () => {
  expect(trialSize({nodes: 3})).toBe(3)
  expect(placed({nodes: 3, spares: 1})).toEqual({nodes: ['a', 'b', 'c'], elastic: false})
})
