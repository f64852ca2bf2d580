import {expect, test} from 'vitest'
import {runListText} from '../../../../src/cli/runs/list-text.ts'
import type {RunEntry} from '../../../../src/lib/runs/index.ts'

const entry = (run: string, user: string | null): RunEntry => ({
  run,
  project: 'digits',
  user,
  status: 'finished',
  doubt: null,
  nodes: ['gpu01'],
  leader: null,
  term: null,
  worldSize: 1,
  started: 0,
  ended: 1000,
  attempt: 1,
  cause: null,
  rebooted: [],
  metrics: {},
  experiment: null,
  trackedId: null,
  recorded: true,
  onNodes: true,
  sweep: null,
  slurm: null,
})

test('who started a run is told where several did', () => {
  const text = (runs: RunEntry[]): string[] => runListText({runs, away: null, unasked: []}).split('\n')
  const [head, first, , last] = text([entry('one', 'ann'), entry('two', 'bob'), entry('three', null)])
  expect(head).toMatch(/^RUN +USER +STATUS/)
  expect(first).toMatch(/^one +ann +finished/)
  expect(last).toMatch(/^three +- +finished/)
  expect(text([entry('one', 'ann'), entry('three', null)])[0]).not.toContain('USER')
})
