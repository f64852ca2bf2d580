import {expect, test} from 'vitest'
import type {HistoryInspected} from '../../../src/lib/protocol/index.ts'
import {autosaveSteps} from '../../../src/lib/workspace/autosave.ts'

const found: HistoryInspected = {
  every: 600,
  exclude: ['*.bin'],
  largest: null,
  running: true,
  restic: '/usr/bin/restic',
  lacks: null,
  why: null,
  hint: null,
}

test('nothing is to be done where it is so already, and where nobody asks for it', () => {
  expect(autosaveSteps('n', 'p', {every: 600}, ['*.bin'], found, true, false)).toEqual([])
  expect(autosaveSteps('n', 'p', undefined, [], undefined, false, false)).toEqual([])
})

test.each([
  ['another interval', {every: 60}, ['*.bin'], {}],
  ['other patterns', {every: 600}, [], {}],
  ['another size', {every: 600, largest: 5}, ['*.bin'], {}],
  ['it does not run', {every: 600}, ['*.bin'], {running: false}],
  ['there is no restic any more', {every: 600}, ['*.bin'], {restic: null, lacks: 'x86_64'}],
])('a step where %s', (_what, wanted, exclude, more) => {
  expect(autosaveSteps('n', 'p', wanted, exclude, {...found, ...more}, true, true)).toMatchObject([
    {kind: 'workspace.autosave', needs: ['sync:n'], input: {every: wanted.every, exclude}},
  ])
})

test('who takes it out of the manifest has it ended', () => {
  expect(autosaveSteps('n', 'p', undefined, [], undefined, true, false)).toMatchObject([
    {input: {every: null}, title: expect.stringContaining('stays') as string},
  ])
})
