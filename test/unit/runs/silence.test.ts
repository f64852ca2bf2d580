import {expect, test} from 'vitest'
import {goneNodes, type Heard} from '../../../src/lib/runs/silence.ts'

const nodes = (...parts: Partial<Heard>[]): Heard[] => parts.map((part, index) => ({node: `node-${index + 1}`, index, over: undefined, at: 0, ...part}))

test('as long as nobody knows the end, silence means nothing', () => {
  expect(goneNodes(nodes({}, {}, {}), 3_600_000)).toEqual([])
  expect(goneNodes(nodes({}), 3_600_000)).toEqual([])
})

test('once the leader has ended the run, a member that stays silent for 20 s is given up, and one that speaks is not', () => {
  const ended = nodes({over: 50_000, at: 50_000}, {at: 10_000}, {at: 69_000})
  expect(goneNodes(ended, 69_000)).toEqual([])
  expect(goneNodes(ended, 71_000)).toEqual(['node-2'])
})

test('a leader that is silent for 60 s is given up only where every member that speaks says that the run is over', () => {
  const members = (...parts: Partial<Heard>[]): Heard[] => nodes({at: 0}, ...parts)
  expect(goneNodes(members({over: 40_000, at: 40_000}, {at: 99_000}), 101_000)).toEqual([])
  expect(goneNodes(members({over: 40_000, at: 40_000}, {over: 45_000, at: 45_000}), 104_000)).toEqual([])
  expect(goneNodes(members({over: 40_000, at: 40_000}, {over: 45_000, at: 45_000}), 106_000)).toEqual(['node-1'])
  expect(goneNodes(members({over: 40_000, at: 40_000}, {at: 1000}), 106_000)).toEqual(['node-1', 'node-3'])
})
