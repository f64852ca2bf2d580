import {describe, expect, test} from 'vitest'
import {broken, exitsOf, promiseOf, type Seen} from '../../support/chaos/promise.ts'
import {PHASES, scenarioOf, tell, VICTIMS, type Blow, type Scenario} from '../../support/chaos/scenario.ts'

const CHOICE = {nodes: 2, torchrun: 0.1, tracked: 0.3}
const blow = (victim: Blow['victim'], parts: Partial<Blow> = {}): Blow => ({victim, node: 1, frozen: 0, ...parts})
const scenario = (parts: Partial<Scenario> = {}): Scenario => ({
  seed: 1,
  nodes: 2,
  spares: 0,
  launcher: 'plain',
  restarts: 0,
  tracked: false,
  deaf: false,
  phase: 'running',
  delay: 0,
  blows: [blow('rank')],
  back: null,
  ...parts,
})

describe('scenarios', () => {
  test('the same seed is the same scenario, and 2000 seeds meet every victim in every phase that it can be in, frozen and two at once', () => {
    expect(scenarioOf(7, CHOICE)).toEqual(scenarioOf(7, CHOICE))
    const all = Array.from({length: 2000}, (_, seed) => scenarioOf(seed, CHOICE))
    const met = new Set(all.flatMap((one) => one.blows.map(({victim}) => `${one.phase} ${victim}`)))
    expect(met.size).toBe(3 * VICTIMS.length + 5 + 7)
    expect(all.filter((one) => one.blows.length === 2).length / 2000).toBeCloseTo(0.2, 1)
    expect(all.filter((one) => (one.blows[0] as Blow).frozen > 0).length / 2000).toBeCloseTo(0.2, 1)
    for (const phase of PHASES) expect(all.filter((one) => one.phase === phase).length / 2000).toBeCloseTo(0.2, 1)
    expect(all.flatMap((one) => one.blows).every(({node}) => node === 0 || node === 1)).toBe(true)
  })

  test('a line tells what is done to whom, and when', () => {
    expect(tell(scenario({blows: [blow('rank', {frozen: 300}), blow('node', {node: 0})], back: 900, delay: 12}))).toBe(
      'seed 1: rank of node-2 (frozen for 300 ms before) and node of node-1, running + 12 ms, back after 900 ms; plain, 0 restarts',
    )
  })
})

describe('promises', () => {
  test('a rank that is killed fails the run, or its attempt where restarts are left; a blow that hits nothing changes nothing', () => {
    expect(promiseOf(scenario(), [true]).ends).toEqual(['failed'])
    expect(promiseOf(scenario({blows: [blow('worker')]}), [true]).ends).toEqual(['failed'])
    expect(promiseOf(scenario({blows: [blow('worker', {frozen: 2000})]}), [true]).ends).toEqual(['failed', 'finished'])
    expect(promiseOf(scenario({restarts: 1}), [true]).ends).toEqual(['finished'])
    expect(promiseOf(scenario(), [false]).ends).toEqual(['finished'])
    expect(promiseOf(scenario({phase: 'stopping'}), [false]).ends).toEqual(['stopped'])
  })

  test('the command, the reaper and sshd are not needed while it runs; a supervisor and a node are, restarts or not', () => {
    for (const victim of ['command', 'reaper', 'sshd', 'sessions'] as const)
      expect(promiseOf(scenario({blows: [blow(victim)]}), [true]).ends).toEqual(['finished'])
    for (const victim of ['supervisor', 'node'] as const)
      expect(promiseOf(scenario({blows: [blow(victim)], restarts: 1}), [true]).ends).toEqual(['failed'])
    expect(promiseOf(scenario({blows: [blow('link')], back: 900}), [true]).ends).toEqual(['finished'])
    expect(promiseOf(scenario({blows: [blow('link')]}), [true]).ends).toEqual(['failed'])
  })

  test('with a spare, a run goes on without its leader, a member, or the spare itself', () => {
    const spared = (victim: Blow['victim'], node: number, parts: Partial<Scenario> = {}): string[] =>
      promiseOf(scenario({nodes: 3, spares: 1, blows: [blow(victim, {node})], ...parts}), [true]).ends
    for (const victim of ['supervisor', 'node', 'link'] as const)
      expect([0, 1, 2].map((node) => spared(victim, node))).toEqual([['finished'], ['finished'], ['finished']])
    expect(spared('node', 1, {spares: 0})).toEqual(['failed'])
    expect(spared('rank', 1)).toEqual(['failed'])
  })

  test('two blows at once may do what each of them may, and fail the run', () => {
    expect(promiseOf(scenario({blows: [blow('reaper'), blow('sshd')]}), [true, true]).ends).toEqual([
      'finished',
      'failed',
    ])
    expect(promiseOf(scenario({blows: [blow('reaper'), blow('rank')]}), [true, false]).ends).toEqual(['finished'])
  })
})

describe('what is seen is judged', () => {
  const cause = {node: 'node-2', rank: 1, message: 'it was killed'}
  const shown = {
    status: 'failed',
    cause,
    ranks: [
      {rank: 0, node: 'node-1', exit: 143},
      {rank: 1, node: 'node-2', exit: 137},
    ],
    attempts: [{}],
  }
  const seen = (parts: Partial<Seen> = {}): Seen => ({
    run: 'c1-abcde',
    hit: [true],
    late: false,
    command: {status: 6, signal: null, output: 'run c1-abcde failed', hasEnded: true},
    shown,
    done: [],
    left: [],
    record: undefined,
    ...parts,
  })
  const judge = (one: Seen, parts: Partial<Scenario> = {}): string[] =>
    broken(scenario(parts), one, ['node-1', 'node-2'], 2)
  const finished = {
    status: 'finished',
    cause: null,
    ranks: [
      {attempt: 1, rank: 0, node: 'node-1', exit: 0},
      {attempt: 1, rank: 1, node: 'node-2', exit: 0},
    ],
    attempts: [{}],
  }
  const ok = {status: 0, signal: null, output: '', hasEnded: true}

  test('what was promised is not broken', () => {
    expect(judge(seen())).toEqual([])
    expect(judge(seen({shown: finished, hit: [false], command: ok, done: ['done-1-0', 'done-1-1']}))).toEqual([])
    expect(
      judge(seen({command: {...ok, status: null, signal: 'SIGKILL'}, shown: undefined, run: undefined}), {
        phase: 'before',
        blows: [blow('command')],
      }),
    ).toEqual([])
  })

  test.each<[string, Partial<Seen>, Partial<Scenario>, RegExp]>([
    ['a command that hangs', {command: {...ok, status: null, hasEnded: false}}, {}, /does not end/],
    ['a process that is left', {left: ['process 7']}, {}, /left: process 7/],
    [
      'another end',
      {shown: {...shown, status: 'stopped'}, command: {...ok, status: 130}},
      {},
      /it is stopped, promised is failed/,
    ],
    ['success that is told of a failure', {command: ok}, {}, /it is failed, and the command ended with 0/],
    ['a failure without a cause', {shown: {...shown, cause: null}}, {}, /no cause is told/],
    [
      'somebody else who is blamed',
      {shown: {...shown, cause: {...cause, node: 'node-1'}}},
      {},
      /it was a rank on node-2/,
    ],
    [
      'a finish without its ranks',
      {hit: [false], shown: finished, command: ok, done: ['done-1-0']},
      {},
      /1 of 2 ranks at their end/,
    ],
    ['a record that lies', {record: {status: 'RUNNING'}}, {tracked: true}, /recorded as RUNNING/],
    [
      'a record of what never began',
      {run: undefined, shown: undefined, record: {status: 'RUNNING'}, command: {...ok, status: 5}},
      {tracked: true, phase: 'before', blows: [blow('sshd')]},
      /never started, and is recorded as RUNNING/,
    ],
  ])('%s is', (_, parts, how, message) => {
    expect(judge(seen(parts), how).join('\n')).toMatch(message)
  })

  test('without the node that led the run the command may say that it does not know how it ended', () => {
    const blind = seen({shown: finished, command: {...ok, status: 5}, done: ['done-1-0', 'done-1-1']})
    expect(judge(blind, {phase: 'recording', blows: [blow('link', {node: 0})]})).toEqual([])
    expect(judge(blind, {phase: 'recording', blows: [blow('link', {node: 1})]})).toEqual([
      'it is finished, and the command ended with 5',
    ])
  })

  test('exit statuses agree with ends: none but finished is 0', () => {
    expect((['absent', 'failed', 'stopped'] as const).flatMap(exitsOf)).not.toContain(0)
    expect(exitsOf('finished')).toEqual([0])
  })
})
