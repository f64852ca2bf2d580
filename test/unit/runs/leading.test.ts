import {describe, expect, it} from 'vitest'
import type {NodeRunDetail} from '../../../src/lib/protocol/index.ts'
import {endOf, stateOf, statusOf} from '../../../src/lib/runs/leading.ts'
import {FINISHED, LEADERLESS, reported} from '../../support/reported.ts'

const second = {term: 2, leader: 'node-2'}
const wordOf = (...nodes: NodeRunDetail[]): string => stateOf({run: 'digits-1', nodes}).node

describe('the word that counts', () => {
  it('is that of the newest leader, also where one that stepped down still goes on', () => {
    expect(wordOf(reported(1), reported(2), reported(3))).toBe('node-1')
    expect(wordOf(reported(1), reported(2, second), reported(3))).toBe('node-2')
    expect(wordOf(reported(3, second), reported(2, second), reported(1, FINISHED))).toBe('node-2')
  })

  it('is, where the leader does not answer, that of whoever has its committed result, then of whoever is still at it, then of the first', () => {
    expect(wordOf(reported(3, FINISHED), reported(2))).toBe('node-3')
    expect(wordOf(reported(2, LEADERLESS), reported(3))).toBe('node-3')
    expect(wordOf(reported(3, LEADERLESS), reported(2, LEADERLESS))).toBe('node-2')
    expect(wordOf(reported(1, LEADERLESS), reported(3, second))).toBe('node-3')
  })

  it('is that of who has its committed result, or is still at it, where the leader has died without one', () => {
    expect(wordOf(reported(1, LEADERLESS), reported(2, FINISHED))).toBe('node-2')
    expect(wordOf(reported(1), reported(2, FINISHED))).toBe('node-1')
    expect(wordOf(reported(1, LEADERLESS), reported(2))).toBe('node-2')
  })

  it('is, of a leader that lost the others, its own before theirs', () => {
    expect(wordOf(reported(2, LEADERLESS), reported(1, LEADERLESS))).toBe('node-1')
  })
})

describe('how a run ended', () => {
  const end = (...nodes: NodeRunDetail[]): string => endOf({run: 'digits-1', nodes}).node

  it('is known from the leader, or from a node with its committed result', () => {
    expect(end(reported(1, FINISHED), reported(2, LEADERLESS))).toBe('node-1')
    expect(end(reported(3, {...FINISHED, ...second}), reported(1, LEADERLESS))).toBe('node-3')
  })

  it('is not known where only members answer that were left without a leader', () => {
    expect(() => end(reported(2, LEADERLESS), reported(3, LEADERLESS))).toThrow(
      expect.objectContaining({
        code: 'NODE_UNREACHABLE',
        message:
          'node-1, which led run digits-1, does not answer any more, so how the run ended is not known; it is over on node-2, node-3 (node-2: the leader on node-1 is gone)',
        details: {node: 'node-1', run: 'digits-1'},
        hint: 'flexrack runs show digits-1',
      }),
    )
  })

  it('is not known where the leader has lost so many that they may go on without it, and these do not answer', () => {
    const cut: Partial<NodeRunDetail> = {
      ...LEADERLESS,
      cause: {...(LEADERLESS.cause as NonNullable<NodeRunDetail['cause']>), message: 'cut off from node-2 and node-3'},
    }
    expect(() => end(reported(1, cut))).toThrow(
      'node-1, which led run digits-1, has ended its part of it (cut off from node-2 and node-3); node-2, node-3 do not answer, so whether the run goes on there is not known',
    )
    expect(end(reported(1, cut), reported(3, LEADERLESS))).toBe('node-1')
    // it was never started there
    expect(endOf({run: 'digits-1', nodes: [reported(1, cut)], absent: ['node-3']}).node).toBe('node-1')
    expect(end(reported(1, cut, 2))).toBe('node-1')
  })

  it('is not waited for from nodes that the rack has no more: they are no part of a majority, and a leader among them never tells', () => {
    expect(() => endOf({run: 'digits-1', nodes: [reported(1, LEADERLESS)], removed: ['node-2']})).toThrow(
      '; node-3 does not answer, so whether the run goes on there is not known',
    )
    expect(endOf({run: 'digits-1', nodes: [reported(1, LEADERLESS)], removed: ['node-2', 'node-3']}).node).toBe(
      'node-1',
    )
    expect(() => endOf({run: 'digits-1', nodes: [reported(2, LEADERLESS)], removed: ['node-1']})).toThrow(
      'node-1, which led run digits-1, is no node of the rack any more, so how the run ended is not known; it is over on node-2 (',
    )
  })
})

describe('how a run is', () => {
  const status = (...nodes: NodeRunDetail[]): string => statusOf({run: 'digits-1', nodes}).status

  it('is unknown where its end is, and only then', () => {
    expect(statusOf({run: 'digits-1', nodes: [reported(2, LEADERLESS), reported(3, LEADERLESS)]})).toEqual({
      status: 'unknown',
      doubt: {
        nodes: ['node-1'],
        message: expect.stringMatching(/^node-1, which led run digits-1, does not answer/) as string,
      },
    })
    expect(statusOf({run: 'digits-1', nodes: [reported(2, LEADERLESS, 2)]}).status).toBe('unknown')
    expect(statusOf({run: 'digits-1', nodes: [reported(1, LEADERLESS)]})).toMatchObject({
      status: 'unknown',
      doubt: {nodes: ['node-2', 'node-3']},
    })
    expect(status(reported(1, LEADERLESS), reported(2, LEADERLESS))).toBe('failed')
    expect(status(reported(2, FINISHED), reported(3, LEADERLESS))).toBe('finished')
  })

  it('is that of who is at it, or begins, also where the leader does not answer', () => {
    expect(status(reported(2), reported(3, LEADERLESS))).toBe('running')
    expect(status(reported(2, {status: 'starting', live: false}))).toBe('starting')
    expect(status(reported(1, LEADERLESS), reported(2))).toBe('running')
  })
})
