import {describe, expect, it} from 'vitest'
import type {RankStack} from '../../../src/lib/protocol/index.ts'
import {groupStacks, shortFile} from '../../../src/lib/runs/stacks.ts'
import {stacksText} from '../../../src/cli/runs/hang-text.ts'
import {rankProgress} from '../../support/rank-progress.ts'

const frame = (file: string, line: number, name: string) => ({file, line, function: name})
const rank = (number: number, frames: ReturnType<typeof frame>[], parts: Partial<RankStack> = {}): RankStack => ({
  rank: number,
  node: `node-${number + 1}`,
  pid: 100 + number,
  state: 'S',
  cpu: 0,
  cwd: `/node-${number}/code`,
  source: 'faulthandler',
  threads: frames.length > 0 ? [{main: true, name: null, frames}] : [],
  kernel: {wchan: null, stack: []},
  progress: null,
  note: null,
  ...parts,
})
const waits = (number: number, parts: Partial<RankStack> = {}) =>
  rank(
    number,
    [
      frame('/env/lib/python3.11/site-packages/torch/autograd/graph.py', 5, 'run'),
      frame(`/node-${number}/code/train.py`, 20, 'main'),
    ],
    parts,
  )

describe('stacks of ranks', () => {
  it('that are at the same place are one group, although the nodes keep the program in different folders', () => {
    const groups = groupStacks([waits(0), rank(1, [frame('/node-1/code/train.py', 88, 'load')]), waits(2)])
    expect(groups.map((group) => group.ranks)).toEqual([[0, 2], [1]])
    expect(groups[0]?.frames).toEqual([frame('torch/autograd/graph.py', 5, 'run'), frame('train.py', 20, 'main')])
  })

  it('that nobody could take are no group of alike', () => {
    expect(groupStacks([rank(0, []), rank(1, [])]).map((group) => group.ranks)).toEqual([[0], [1]])
  })

  it('are shown once each, under a line for every rank', () => {
    const ranks = [
      waits(0, {progress: rankProgress({steps: 7, collective: 'all_reduce', collectives: 8})}),
      rank(1, [], {state: 'T', note: 'it is stopped'}),
      waits(2, {cpu: 0.98, state: 'R'}),
    ]
    expect(
      stacksText({
        run: 'x-1',
        attempt: 2,
        ranks,
        groups: groupStacks(ranks),
        failed: [{node: 'node-9', message: 'it is away'}],
      }),
    ).toBe(
      `x-1, attempt 2

rank 0 on node-1, pid 100, sleeping, 0 % CPU, step 7, in all_reduce #8
rank 1 on node-2, pid 101, stopped, 0 % CPU
  it is stopped
rank 2 on node-3, pid 102, running, 98 % CPU

ranks 0, 2, innermost first
  run torch/autograd/graph.py:5
  main train.py:20

node-9 was not asked: it is away`,
    )
  })

  it.each([
    ['/a/code/train.py', 'train.py'],
    ['/usr/lib/python3.11/threading.py', 'threading.py'],
    ['/env/lib/python3.9/site-packages/numpy/core.py', 'numpy/core.py'],
    ['/elsewhere/x.py', '/elsewhere/x.py'],
  ])('name %s as %s', (file, short) => {
    expect(shortFile(file, '/a/code')).toBe(short)
  })
})
