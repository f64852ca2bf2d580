import {expect, it} from 'vitest'
import {rankTable} from '../../../../src/cli/runs/rank-table.ts'

const rank = {rank: 0, local_rank: 0, node: 'a', pid: 1, started: 0, ended: 2, exit: 0}
const lines = (text: string): string[] => text.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' | '))

it('says what ranks were bound to only where something was chosen', () => {
  expect(lines(rankTable([rank]))).toEqual(['ATTEMPT | RANK | NODE | EXIT | DURATION', '1 | 0 | a | 0 | 2.0 s'])
  const bound = {cpus: '0-7', memory: 'NUMA 0 by numactl', gpus: ['GPU-1a2b3c4d-0000-0000-0000-000000000000']}
  const leased = {cpus: 'not bound: none were chosen', memory: 'not bound: none was chosen', gpus: ['GPU1 of gpu2']}
  expect(
    lines(
      rankTable([
        {...rank, bound},
        {...rank, rank: 1, bound: leased},
      ]),
    ),
  ).toEqual([
    'ATTEMPT | RANK | NODE | EXIT | DURATION | GPUS | CPUS | MEMORY',
    '1 | 0 | a | 0 | 2.0 s | GPU-1a2b3c4d | 0-7 | NUMA 0 by numactl',
    '1 | 1 | a | 0 | 2.0 s | GPU1 of gpu2 | not bound: none were chosen | not bound: none was chosen',
  ])
})

it('says of a rank without an end that it is running, and, once the run is over, that it was lost with its node', () => {
  const open = {rank: 0, local_rank: 0, node: 'a', pid: 1, started: 0}
  expect([false, true].map((isOver) => lines(rankTable([open], isOver))[1])).toEqual([
    '1 | 0 | a | running | -',
    '1 | 0 | a | lost | -',
  ])
})
