import {describe, expect, it} from 'vitest'
import {hangsText} from '../../../../src/cli/runs/hang-text.ts'
import {paceText, stragglerLine} from '../../../../src/cli/runs/pace-text.ts'
import type {Hang, Pace} from '../../../../src/lib/protocol/index.ts'

const one = {node: 'node-1', steps: 40, step: 0.05, samples: 320, synced: true, cpu_wait: 0, throttled: 0}
const pace: Pace = {
  ranks: [
    {...one, rank: 0, own: 0.004, data: 0.001, collectives: 0.046},
    {...one, rank: 1, own: 0.045, data: 0.041, collectives: 0.005},
  ],
  slowest: {
    rank: 1,
    node: 'node-1',
    own: 0.045,
    others: 0.004,
    factor: 11,
    loss: 0.82,
    why: 'it waits for data (41 ms a step)',
    message: 'rank 1 (node-1) needs 45 ms a step',
  },
}

describe('how fast ranks were', () => {
  it('is a table with the slowest named below', () => {
    expect(
      paceText(pace)
        .split('\n')
        .map((line) => line.trim().replaceAll(/ {2,}/g, ' | ')),
    ).toEqual([
      'RANK | NODE | STEPS | TIME/STEP | OWN WORK | DATA | COLLECTIVES',
      '0 | node-1 | 40 | 50 ms | 4.00 ms | 1.00 ms | 46 ms',
      '1 | node-1 | 40 | 50 ms | 45 ms | 41 ms | 5.00 ms',
      'slowest: rank 1 (node-1) needs 45 ms a step',
    ])
  })
  it('is nothing where no rank told, and no line where none was slow', () => {
    expect([paceText(null), paceText(undefined), stragglerLine(null)]).toEqual(['', '', undefined])
    expect(stragglerLine({...pace, slowest: null})).toBeUndefined()
  })
})

describe('a hang', () => {
  it('is told with its lines', () => {
    const hang: Hang = {
      number: 1,
      attempt: 1,
      at: 1e9,
      action: 'report',
      message: 'rank 0 waits in barrier #3; rank 1 (b) has not come: it waits',
      seconds: 301,
      suspects: [],
      lines: ['rank 1: train.py:3 in f'],
      silent: [],
    }
    expect(hangsText([hang])).toBe(
      'hang 2001-09-09T01:46:40.000Z, attempt 1: no progress for 5 min 01 s: rank 0 waits in barrier #3; rank 1 (b) has not come: it waits\n  rank 1: train.py:3 in f',
    )
    expect(hangsText([])).toBe('')
  })
})
