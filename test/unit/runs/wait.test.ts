import {describe, expect, it} from 'vitest'
import {CliError} from '../../../src/lib/base/index.ts'
import type {NodeRunDetail} from '../../../src/lib/protocol/index.ts'
import {untilOver} from '../../../src/lib/runs/wait.ts'
import {FINISHED, LEADERLESS, reported} from '../../support/reported.ts'

/** What a node tells from a second on, until the next; `away`: it does not answer. */
type Story = Record<number, Partial<NodeRunDetail> | 'away'>

const second = {term: 2, leader: 'node-2', attempt: 2}

/**
 * Nodes that tell their stories by a clock that only questions move: as long as one waits, or 15 s where nobody
 * answers.
 */
function world(...stories: Story[]) {
  let seconds = 0
  const requested: string[] = []
  const at = (number: number): NodeRunDetail | undefined => {
    const since = Object.keys(stories[number - 1] ?? {})
      .map(Number)
      .filter((from) => from <= seconds)
    const parts = stories[number - 1]?.[Math.max(...since)]
    return parts === undefined || parts === 'away' ? undefined : reported(number, parts, stories.length)
  }
  const ask = async (node: string, wait: number): Promise<NodeRunDetail> => {
    requested.push(node)
    const number = Number(node.slice(5))
    const end = seconds + wait
    for (;;) {
      const now = at(number)
      if (!now) throw new CliError('NODE_UNREACHABLE', `no connection to ${node}`)
      if (!now.live || seconds >= end) return now
      seconds += 1
      if (seconds > 1000) throw new Error('it waits for ever')
    }
  }
  const known = (...numbers: number[]) => ({
    run: 'digits-1',
    nodes: numbers.map((number) => at(number) ?? reported(number, {}, stories.length)),
  })
  const leaders: string[] = []
  return {
    requested,
    leaders,
    known,
    wait: (numbers: number[], timeout?: number) =>
      untilOver(known(...numbers), ask, {
        timeout,
        now: () => seconds * 1000,
        onLeader: (leader) => leaders.push(leader),
      }),
  }
}

describe('waiting for a run', () => {
  it('asks nobody but the leader while that one answers, and the others once when it is over', async () => {
    const {wait, requested} = world({0: {}, 50: FINISHED}, {0: {}, 49: FINISHED}, {0: {}, 50: FINISHED})
    expect(await wait([1, 2, 3])).toMatchObject({node: 'node-1', status: 'finished'})
    expect(requested).toEqual(['node-1', 'node-1', 'node-1', 'node-2', 'node-3'])
  })

  it('asks nobody else of a run on two nodes, which no other can lead', async () => {
    const {wait, requested} = world({0: {}, 10: {...LEADERLESS}}, {0: {}})
    expect(await wait([1, 2])).toMatchObject({node: 'node-1', status: 'failed'})
    expect(requested).toEqual(['node-1'])
  })

  it("goes on with the node that the others chose when the leader's is lost, and ends with its committed result", async () => {
    const {wait, leaders} = world(
      {0: {}, 30: 'away'},
      {0: {}, 70: second, 300: {...FINISHED, ...second}},
      {0: {}, 72: second, 300: {...FINISHED, ...second}},
    )
    expect(await wait([1, 2, 3])).toMatchObject({node: 'node-2', term: 2, status: 'finished'})
    expect(leaders).toEqual(['node-2'])
  })

  it("goes on where the leader's supervisor alone died, and where a leader that stepped down has ended its part", async () => {
    for (const end of [{...LEADERLESS}, {...FINISHED, status: 'failed' as const}]) {
      const {wait} = world(
        {0: {}, 30: end},
        {0: {}, 40: second, 90: {...FINISHED, ...second}},
        {0: {}, 41: second, 90: {...FINISHED, ...second}},
      )
      expect(await wait([1, 2, 3])).toMatchObject({node: 'node-2', status: 'finished'})
    }
  })

  it('begun after the loss asks those that answer, before they have chosen and afterwards', async () => {
    const stories: Story[] = [
      {0: 'away'},
      {0: {}, 20: {term: 2, leader: 'node-3'}, 60: {...FINISHED, term: 2, leader: 'node-3'}},
      {0: {}, 20: {term: 2, leader: 'node-3'}, 60: {...FINISHED, term: 2, leader: 'node-3'}},
    ]
    expect(await world(...stories).wait([2, 3])).toMatchObject({node: 'node-3', status: 'finished'})
    // Also where the one that leads now did not answer when the run was looked for.
    expect(await world(...stories).wait([2])).toMatchObject({node: 'node-3', status: 'finished'})
  })

  it('is told the end by a member where the newest leader has gone after it', async () => {
    const {wait} = world({0: {}, 30: 'away'}, {0: {}, 29: {...FINISHED}}, {0: {}, 29: {...FINISHED}})
    expect(await wait([1, 2, 3])).toMatchObject({node: 'node-2', status: 'finished', committed: true})
  })

  it('ends without knowing how the run ended where all others are over and have only lost their leader', async () => {
    const {wait} = world({0: {}, 30: 'away'}, {0: {}, 90: LEADERLESS}, {0: {}, 105: LEADERLESS})
    await expect(wait([1, 2, 3])).rejects.toThrow(
      expect.objectContaining({
        code: 'NODE_UNREACHABLE',
        message: expect.stringMatching(/^node-1, which led run digits-1, does not answer any more/) as string,
      }),
    )
  })

  it('says so where nobody answers, and after its timeout', async () => {
    await expect(world({0: 'away'}, {0: 'away'}, {0: 'away'}).wait([1, 2, 3])).rejects.toThrow(
      'no connection to node-1',
    )
    await expect(world({0: 'away'}).wait([1])).rejects.toThrow('no connection to node-1')
    await expect(world({0: {}}).wait([1], 30)).rejects.toThrow(
      expect.objectContaining({code: 'TIMED_OUT', message: 'run digits-1 is still running after 30 s'}),
    )
    await expect(world({0: 'away'}, {0: {}}, {0: {}}).wait([1, 2, 3], 30)).rejects.toThrow(
      expect.objectContaining({code: 'TIMED_OUT'}),
    )
  })
})
