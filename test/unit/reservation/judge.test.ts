import {expect, it} from 'vitest'
import type {Reservation, TakeAnswer} from '../../../src/lib/protocol/index.ts'
import {inFixedOrder, judge, ticketOf} from '../../../src/lib/reservation/judge.ts'

const holder = (state: Reservation['state']): Reservation => ({
  lease: 'a-1',
  state,
  user: 'ada',
  owner: 'ada@laptop',
  project: 'a',
  node: 'n',
  nodes: ['n'],
  since: 0,
  here: true,
  over: 'the whole node',
  wants: {gpus: [], slots: 1, exclusive: true},
  silent: 0,
  ends_in: null,
})
const answer = (states: Reservation['state'][], parts: Partial<TakeAnswer> = {}): TakeAnswer => ({
  granted: states.length === 0,
  fence: 1,
  since: 5,
  identity: 'm',
  shared: true,
  gpus: [],
  holders: states.map(holder),
  ...parts,
})

it('is granted only by all nodes, and open only where everybody in the way may still be refused', () => {
  expect(judge([answer([]), answer([])])).toBe('granted')
  expect(judge([answer([]), answer(['prepared'])])).toBe('unsettled')
  expect(judge([answer(['prepared']), answer(['running'])])).toBe('refused')
  for (const state of ['waiting', 'confirmed', 'running'] as const)
    expect(judge([answer(['prepared', state])])).toBe('refused')
})

it('orders nodes by what they are, not by what a rack file calls them', () => {
  const mine = inFixedOrder(
    [{node: 'a'}, {node: 'b'}],
    new Map([
      ['a', answer([], {identity: 'y'})],
      ['b', answer([], {identity: 'x', since: 7})],
    ]),
  )
  const theirs = inFixedOrder(
    [{node: 'gpu1'}, {node: 'gpu2'}],
    new Map([
      ['gpu1', answer([], {identity: 'x'})],
      ['gpu2', answer([], {identity: 'y'})],
    ]),
  )
  expect([mine.map((one) => one.node), theirs.map((one) => one.node)]).toEqual([
    ['b', 'a'],
    ['gpu1', 'gpu2'],
  ])
  expect(
    ticketOf(
      [{node: 'a'}, {node: 'b'}],
      new Map([
        ['a', answer([], {identity: 'y'})],
        ['b', answer([], {identity: 'x', since: 7})],
      ]),
    ),
  ).toBe(7)
})
