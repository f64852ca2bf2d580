import {expect, test} from 'vitest'
import {detachedText, stoppedSweepText, sweepListText, sweepText} from '../../../../src/cli/sweep/text.ts'
import type {Background} from '../../../../src/lib/background/index.ts'
import type {Sweep} from '../../../../src/lib/sweep/index.ts'

const BACKGROUND: Background = {
  pid: 4711,
  machine: 'laptop',
  state: 'running',
  started: new Date().toISOString(),
  ended: null,
  why: null,
  log: '/state/x-sweep-1.log',
  waiting: null,
}
const WAITING = {
  since: new Date(Date.now() - 12 * 60_000).toISOString(),
  why: 'no connection to node-1: nobody answers',
}

function sweep(parts: Partial<Sweep>): Sweep {
  const spec = {metric: 'loss', goal: 'minimize', sampler: 'tpe', pruner: {name: 'none'}, parallel: 1, parameters: {}}
  return {
    sweep: 'x-sweep-1',
    status: 'running',
    driver: null,
    background: null,
    command: ['train.py'],
    trials: [],
    best: null,
    importance: null,
    created: 0,
    spec,
    ...parts,
  } as unknown as Sweep
}

function driven(parts: Partial<Sweep>): string {
  return /^driven: +([\s\S]*?)(?=\n\w+: )/m.exec(sweepText(sweep(parts)))?.[1]?.replaceAll(/\s+/g, ' ') ?? ''
}

test('who drives a sweep is said where its status does not, and the way on where nobody does', () => {
  expect(driven({driver: 'ada@laptop on node-1'})).toBe('')
  expect(driven({driver: 'ada@laptop on node-1', background: BACKGROUND})).toMatch(
    /^in the background, by process 4711 on laptop, since \S+/,
  )
  expect(driven({status: 'interrupted', background: BACKGROUND})).toMatch(
    /it is without a connection just now, and tries again ended by: flexrack sweep stop x-sweep-1$/,
  )
  // Also while the node still takes the lock of a connection that died without a word for a driver's.
  for (const status of ['interrupted', 'running'] as const) {
    expect(
      driven({
        status,
        driver: status === 'running' ? 'ada@laptop (in the background, process 4711) on node-1' : null,
        background: {...BACKGROUND, waiting: WAITING},
      }),
    ).toMatch(
      /it has waited for a connection since 12 min ago \(no connection to node-1: nobody answers\), and tries again for two days at most ended by: flexrack sweep stop x-sweep-1$/,
    )
  }
  expect(driven({status: 'interrupted'})).toBe('by nobody goes on with: flexrack sweep --resume x-sweep-1')
  expect(driven({status: 'interrupted', background: {...BACKGROUND, state: 'lost'}})).toBe(
    'by nobody: process 4711 on laptop is gone without a word (killed, or the machine was started anew) goes on with: flexrack sweep --resume x-sweep-1 --detach',
  )
  expect(driven({status: 'failed', background: {...BACKGROUND, state: 'ended', why: 'all failed'}})).toBe(
    'by nobody: process 4711 on laptop has ended: all failed',
  )
  expect(driven({status: 'interrupted', background: {...BACKGROUND, state: 'elsewhere'}})).toMatch(
    /^in the background, by process 4711 on laptop, unless that is gone goes on with/,
  )
  expect(driven({status: 'finished', background: {...BACKGROUND, state: 'ended'}})).toBe('')
})

test('the list has one word for how a sweep is, and one for who drives it, and fits into a terminal', () => {
  const background = (parts: Partial<Background>): Background => ({...BACKGROUND, ...parts})
  const best = {number: 7, state: 'complete', value: 0.123_456, run: 'digits-sweep-k3x9a-7'}
  const rows: [Partial<Sweep>, string][] = [
    [
      {driver: 'ada@laptop (in the background, process 4711) on node-1 (pid 99, since 5 s)', background: BACKGROUND},
      'running process 4711 now',
    ],
    [{driver: 'ada@laptop on node-1 (pid 99, since 5 s)'}, 'running ada@laptop now'],
    [{driver: 'another process'}, 'running another process now'],
    [{status: 'interrupted', background: BACKGROUND}, 'interrupted process 4711, waiting now'],
    [{driver: 'ada@laptop on node-1', background: background({waiting: WAITING})}, 'running process 4711, waiting now'],
    [{status: 'interrupted', background: background({state: 'lost'})}, 'interrupted process 4711, gone now'],
    [{status: 'interrupted', background: background({state: 'elsewhere'})}, 'interrupted process 4711, elsewhere now'],
    [{status: 'interrupted'}, 'interrupted - now'],
    [{status: 'finished', background: background({state: 'ended'})}, 'finished - now'],
  ]
  const sweeps = rows.map(([parts]) =>
    sweep({
      sweep: 'digits-sweep-k3x9a',
      created: Date.now() / 1000,
      trials: Array.from({length: 120}, (_, number) => ({
        number,
        state: number < 20 ? 'complete' : 'running',
      })) as Sweep['trials'],
      best: best as Sweep['best'],
      ...parts,
    }),
  )
  const lines = sweepListText(sweeps).split('\n')
  expect(lines[0]).toMatch(/^SWEEP +STATUS +DRIVER +STARTED +TRIALS +COMPLETE +METRIC +BEST +BEST RUN$/)
  expect(lines.slice(1).map((line) => line.replaceAll(/ +/g, ' '))).toEqual(
    rows.map(([, words]) => `digits-sweep-k3x9a ${words} 120 20 loss 0.1235 digits-sweep-k3x9a-7`),
  )
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(125)
})

test('what --detach and stop answer names the process, and what comes next', () => {
  expect(detachedText(sweep({background: BACKGROUND}))).toBe(
    'Sweep x-sweep-1 is going on without this command: process 4711 on laptop drives it.\nlog:  /state/x-sweep-1.log\nnext: flexrack sweep show x-sweep-1\n      flexrack sweep logs x-sweep-1 -f\n      flexrack sweep stop x-sweep-1',
  )
  expect(detachedText(sweep({status: 'finished', background: {...BACKGROUND, state: 'ended'}}))).toMatch(
    /^sweep: +x-sweep-1 finished/,
  )
  expect(
    stoppedSweepText({sweep: 'x-sweep-1', driver: null, runs: ['x-sweep-1-0'], background: {pid: 4711, how: 'killed'}}),
  ).toBe(
    'Sweep x-sweep-1 has ended: nobody drove it; stopped: x-sweep-1-0; process 4711 here is gone, killed because it did not end.\nnext: flexrack sweep --resume x-sweep-1',
  )
})
