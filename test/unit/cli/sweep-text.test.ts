import {expect, test} from 'vitest'
import {detachedText, stoppedSweepText, sweepListText, sweepText} from '../../../src/cli/sweep-text.ts'
import type {Background} from '../../../src/lib/background/index.ts'
import type {Sweep} from '../../../src/lib/sweep/index.ts'

const BACKGROUND: Background = {pid: 4711, machine: 'laptop', state: 'running', started: new Date().toISOString(), ended: null, why: null, log: '/state/x-sweep-1.log'}

function sweep(parts: Partial<Sweep>): Sweep {
  const spec = {metric: 'loss', goal: 'minimize', sampler: 'tpe', pruner: {name: 'none'}, parallel: 1, parameters: {}}
  return {sweep: 'x-sweep-1', status: 'running', driver: null, background: null, command: ['train.py'], trials: [], best: null, importance: null, created: 0, spec, ...parts} as unknown as Sweep
}

function driven(parts: Partial<Sweep>): string {
  return /^driven: +([\s\S]*?)(?=\n\w+: )/m.exec(sweepText(sweep(parts)))?.[1]?.replaceAll(/\s+/g, ' ') ?? ''
}

test('who drives a sweep is said where its status does not, and the way on where nobody does', () => {
  expect(driven({driver: 'ada@laptop on node-1'})).toBe('')
  expect(driven({driver: 'ada@laptop on node-1', background: BACKGROUND})).toMatch(/^in the background, by process 4711 on laptop, since \S+/)
  expect(driven({status: 'interrupted', background: BACKGROUND})).toMatch(/without a connection just now; it tries again$/)
  expect(driven({status: 'interrupted'})).toBe('by nobody goes on with: flexrack sweep --resume x-sweep-1')
  expect(driven({status: 'interrupted', background: {...BACKGROUND, state: 'lost'}})).toBe(
    'by nobody: process 4711 on laptop is gone without a word (killed, or the machine was started anew) goes on with: flexrack sweep --resume x-sweep-1 --detach',
  )
  expect(driven({status: 'failed', background: {...BACKGROUND, state: 'ended', why: 'all failed'}})).toBe('by nobody: process 4711 on laptop has ended: all failed')
  expect(driven({status: 'interrupted', background: {...BACKGROUND, state: 'elsewhere'}})).toMatch(/^in the background, by process 4711 on laptop, unless that is gone goes on with/)
  expect(driven({status: 'finished', background: {...BACKGROUND, state: 'ended'}})).toBe('')
})

test('the list tells of processes that the lock does not', () => {
  expect(sweepListText([sweep({status: 'interrupted', background: BACKGROUND})])).toContain('interrupted (process 4711 on laptop waits for a connection)')
  expect(sweepListText([sweep({status: 'interrupted', background: {...BACKGROUND, state: 'lost'}})])).toContain('interrupted (process 4711 on laptop is gone)')
})

test('what --detach and stop answer names the process, and what comes next', () => {
  expect(detachedText(sweep({background: BACKGROUND}))).toBe(
    'Sweep x-sweep-1 is going on without this command: process 4711 on laptop drives it.\nlog:  /state/x-sweep-1.log\nnext: flexrack sweep show x-sweep-1\n      flexrack sweep logs x-sweep-1 -f\n      flexrack sweep stop x-sweep-1',
  )
  expect(detachedText(sweep({status: 'finished', background: {...BACKGROUND, state: 'ended'}}))).toMatch(/^sweep: +x-sweep-1 finished/)
  expect(stoppedSweepText({sweep: 'x-sweep-1', driver: null, runs: ['x-sweep-1-0'], background: {pid: 4711, how: 'killed'}})).toBe(
    'Sweep x-sweep-1 has ended: nobody drove it; stopped: x-sweep-1-0; process 4711 here is gone, killed because it did not end.\nnext: flexrack sweep --resume x-sweep-1',
  )
})
