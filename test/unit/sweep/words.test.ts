import {expect, test} from 'vitest'
import type {Trial} from '../../../src/lib/protocol/index.ts'
import {bestOf, trialEnvironment, trialRun, trialWords} from '../../../src/lib/sweep/words.ts'

const TEXTS = {learning_rate: '1e-05', 'opt.name': 'a b'}

test('values are flags after the command, or stand where the manifest puts them', () => {
  expect(trialWords({}, TEXTS)).toEqual(['--learning-rate', '1e-05', '--opt.name', 'a b'])
  expect(trialWords({arguments: ['lr={learning_rate}', '{opt.name}:{opt.name}', '{}', '{other}']}, TEXTS)).toEqual([
    'lr=1e-05',
    'a b:a b',
    '{}',
    '{other}',
  ])
  expect(trialWords({arguments: []}, TEXTS)).toEqual([])
})

test('values are in the environment in any case, and so is which trial it is', () => {
  expect(trialEnvironment('x-sweep-1', {number: 3, texts: TEXTS})).toEqual({
    FLEXRACK_SWEEP: 'x-sweep-1',
    FLEXRACK_TRIAL: '3',
    FLEXRACK_PARAM_LEARNING_RATE: '1e-05',
    FLEXRACK_PARAM_OPT_NAME: 'a b',
  })
})

test('a trial that is started again is another run', () => {
  expect([trialRun('s', 0, 1), trialRun('s', 0, 2)]).toEqual(['s-0', 's-0.2'])
})

test('the best trial is a complete one, and of equals the first', () => {
  const trials = (
    [
      ['complete', 2],
      ['pruned', null],
      ['complete', -1],
      ['complete', -1],
      ['failed', null],
      ['complete', 5],
    ] as const
  ).map(([state, value], number) => ({number, state, value}) as Trial)
  expect([
    bestOf(trials, 'minimize')?.number,
    bestOf(trials, 'maximize')?.number,
    bestOf(trials.slice(1, 2), 'maximize'),
  ]).toEqual([2, 5, null])
})
