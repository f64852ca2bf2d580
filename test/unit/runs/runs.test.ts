import {describe, expect, it} from 'vitest'
import {CliError, makeContext} from '../../../src/lib/base/index.ts'
import type {Cause, NodeRun} from '../../../src/lib/protocol/index.ts'
import {compareRuns} from '../../../src/lib/runs/compare.ts'
import {chooseRun, lookForRuns, type Place} from '../../../src/lib/runs/find.ts'
import {mergeRuns} from '../../../src/lib/runs/list.ts'
import {removePlan, stopPlan} from '../../../src/lib/runs/plans.ts'
import {leadsStill} from '../../../src/lib/runs/reconcile.ts'
import {describeCause, failureOf} from '../../../src/lib/runs/stop.ts'
import type {FoundRun} from '../../../src/lib/runs/types.ts'
import type {TrackedRun} from '../../../src/lib/tracking/index.ts'

const nodeRun = (run: string, parts: Partial<NodeRun> = {}): NodeRun => ({
  run,
  project: 'digits',
  node: 'node-1',
  index: 0,
  term: 1,
  leader: 'node-1',
  committed: true,
  replaceable: false,
  nodes: ['node-1', 'node-2'],
  processes: 2,
  launcher: 'torchrun',
  created: 100,
  status: 'finished',
  attempt: 1,
  live: false,
  exit: 0,
  cause: null,
  started: 101,
  ended: 110,
  recorded: true,
  tracked: null,
  ...parts,
})
const found = (run: string, parts: Partial<NodeRun> = {}): FoundRun => ({
  run,
  nodes: [nodeRun(run, parts), nodeRun(run, {...parts, node: 'node-2', index: 1})],
})
const tracked = (run: string, parts: Partial<TrackedRun> = {}): TrackedRun => ({
  id: `id-${run}`,
  name: run,
  experimentId: '1',
  user: 'me',
  status: 'FINISHED',
  startTime: 50_000,
  endTime: 60_000,
  artifactUri: '',
  stage: 'active',
  metrics: {loss: {key: 'loss', value: 0.1, timestamp: 1, step: 9}},
  params: {lr: '0.1'},
  tags: {'flexrack.run': run, 'flexrack.nodes': 'node-1', 'flexrack.world_size': '2'},
  ...parts,
})

describe('chooseRun', () => {
  const runs = [
    found('digits-b1111'),
    found('other-c2222', {project: 'other'}),
    found('digits-a3333', {tracked: 'f00d'}),
  ]

  it("means the newest of the project, a whole id, the beginning of one, or the tracking server's id", () => {
    expect(chooseRun(runs, undefined, 'other').run).toBe('other-c2222')
    expect(chooseRun(runs, undefined, undefined).run).toBe('digits-b1111')
    expect(chooseRun(runs, 'digits-a', undefined).run).toBe('digits-a3333')
    expect(chooseRun(runs, 'f00d', undefined).run).toBe('digits-a3333')
  })

  it('refuses what fits several, and names the nearest where nothing fits', () => {
    expect(() => chooseRun(runs, 'digits-', undefined)).toThrow('2 runs begin with digits-')
    expect(() => chooseRun(runs, 'digits-b1112', undefined)).toThrow(
      expect.objectContaining({
        code: 'NOT_FOUND',
        message: 'there is no run digits-b1112; did you mean digits-b1111?',
        hint: 'flexrack runs show digits-b1111',
      }),
    )
    expect(() => chooseRun([], undefined, 'digits')).toThrow('there is no run of digits yet')
  })

  it('does not say that a run does not exist while a node was not asked', () => {
    expect(() => chooseRun(runs, 'zzz', undefined, ['node-3'])).toThrow(
      expect.objectContaining({code: 'NODE_UNREACHABLE'}),
    )
  })
})

describe('lookForRuns', () => {
  const rack = {name: 'lab', nodes: ['node-1', 'node-2', 'node-3'].map((name) => ({name}))} as Place['rack']
  const silent = new CliError('NODE_UNREACHABLE', 'no connection')
  const look = (known: Record<string, NodeRun[]>, away: string[]) =>
    lookForRuns(
      {
        rack,
        known: new Map(Object.entries(known)),
        away: new Map(away.map((name) => [name, silent])),
      } as unknown as Place,
      makeContext(),
    )

  it('says of the nodes of a run who has nothing of it, who did not answer, and whom the rack has no more', async () => {
    const lost = nodeRun('a', {
      nodes: ['node-1', 'node-3', 'node-9'],
      committed: false,
      replaceable: true,
      status: 'failed',
    })
    const {runs, failed} = await look({'node-1': [lost], 'node-2': []}, ['node-3'])
    expect([[...failed.keys()], runs]).toEqual([
      ['node-3'],
      [{run: 'a', nodes: [lost], absent: ['node-2'], removed: ['node-9']}],
    ])
    // Whoever asks a part of the rack alone takes the rest for nodes that nobody waits for, and ends the record of a
    // run that may go on there.
    expect(leadsStill(runs[0] as FoundRun, lost, new Set(rack.nodes.map((one) => one.name)))).toBe(undefined)
  })

  it('fails only where somebody was asked now and nobody has answered', async () => {
    expect((await look({}, ['node-1', 'node-2', 'node-3'])).runs).toEqual([])
    expect((await look({'node-1': []}, ['node-2', 'node-3'])).runs).toEqual([])
  })
})

describe('mergeRuns', () => {
  it("believes the nodes about a run's state and the tracking server about its metrics", () => {
    const [entry] = mergeRuns(
      [found('a', {status: 'failed', tracked: 'id-a', recorded: false})],
      [tracked('a', {status: 'RUNNING', endTime: undefined})],
      {everyNodeQueried: true},
    )
    expect(entry).toMatchObject({
      run: 'a',
      status: 'failed',
      recorded: false,
      metrics: {loss: 0.1},
      worldSize: 4,
      onNodes: true,
    })
  })

  it('keeps runs that only the tracking server knows, and does not call them running when no node has them', () => {
    const records = [tracked('gone'), tracked('ghost', {status: 'RUNNING', endTime: undefined})]
    expect(mergeRuns([], records, {everyNodeQueried: true}).map((one) => [one.run, one.status])).toEqual([
      ['gone', 'finished'],
      ['ghost', 'unknown'],
    ])
    expect(mergeRuns([], records, {everyNodeQueried: false}).map((one) => one.status)).toEqual(['finished', 'running'])
  })

  it('says of an end that no node knows who does, and what the record says', () => {
    const lost = {
      run: 'a',
      nodes: [
        nodeRun('a', {
          node: 'node-2',
          index: 1,
          committed: false,
          status: 'failed',
          recorded: false,
          cause: {
            kind: 'gang',
            node: 'node-2',
            rank: null,
            exit: null,
            signal: null,
            at: 1,
            message: 'the leader on node-1 is gone',
            lines: [],
            others: [],
          },
        }),
      ],
    }
    const entryOf = (...records: TrackedRun[]) => mergeRuns([lost], records, {everyNodeQueried: false})[0]
    const message =
      'node-1, which led run a, does not answer any more, so how the run ended is not known; it is over on node-2 (node-2: the leader on node-1 is gone)'
    expect(entryOf(tracked('a', {status: 'RUNNING', endTime: undefined}))).toMatchObject({
      status: 'unknown',
      doubt: {nodes: ['node-1'], message},
      cause: null,
      ended: null,
    })
    expect(entryOf(tracked('a', {status: 'FAILED'}))?.doubt?.message).toBe(
      `${message}; its record at the tracking server says failed`,
    )
  })

  it('names the nodes that say that they were rebooted, also where the run went on without them', () => {
    const cause: Cause = {
      kind: 'gang',
      node: 'node-2',
      rank: null,
      exit: null,
      signal: null,
      at: 1,
      message: 'node-2 was rebooted while the run was going on',
      lines: [],
      others: [],
      lost: 'reboot',
    }
    const [entry] = mergeRuns(
      [
        {
          run: 'a',
          nodes: [nodeRun('a'), nodeRun('a', {node: 'node-2', index: 1, committed: false, status: 'failed', cause})],
        },
      ],
      [],
      {everyNodeQueried: true},
    )
    expect(entry).toMatchObject({status: 'finished', cause: null, rebooted: ['node-2']})
    expect(mergeRuns([found('b')], [], {everyNodeQueried: true})[0]?.rebooted).toEqual([])
  })

  it('puts the newest first', () => {
    expect(
      mergeRuns([found('old'), found('new', {started: 500})], [tracked('middle', {startTime: 300_000})], {
        everyNodeQueried: true,
      }).map((one) => one.run),
    ).toEqual(['new', 'middle', 'old'])
  })
})

describe('a failure', () => {
  const cause: Cause = {
    kind: 'rank',
    node: 'node-2',
    rank: 3,
    exit: 137,
    signal: 'KILL',
    at: 1,
    message: 'out of memory',
    lines: ['a', 'out of memory'],
    others: [0, 1],
  }

  it('is one sentence with rank, node and reason, and the last lines below', () => {
    expect(describeCause(cause)).toBe('rank 3 on node-2 was killed by SIGKILL: out of memory')
    expect(failureOf('digits-k3x9a', {cause})).toMatchObject({
      code: 'RUN_FAILED',
      exitCode: 6,
      hint: 'flexrack runs logs digits-k3x9a --rank 3',
      details: {
        rank: 3,
        node: 'node-2',
        lines: ['a', 'out of memory'],
        consequences: '2 other ranks ended because of it',
      },
    })
  })

  it('may have no rank', () => {
    expect(
      describeCause({...cause, kind: 'gang', rank: null, exit: null, signal: null, message: 'node-2 did not join'}),
    ).toBe('node-2: node-2 did not join')
  })
})

describe('plans', () => {
  it('stop on every node, where nothing lives as a proof, and delete the record after the files', () => {
    expect(stopPlan(found('a'), {}).steps.map((step) => [step.node, step.title])).toEqual([
      ['node-1', 'Prove that nothing of a is left'],
      ['node-2', 'Prove that nothing of a is left'],
    ])
    expect(stopPlan(found('a', {live: true}), {kill: true}).steps.map((step) => step.title)).toEqual([
      'Stop the ranks of a (SIGKILL)',
      'Stop the ranks of a (SIGKILL)',
    ])
    expect(removePlan(found('a', {tracked: 'x'})).steps.map((step) => [step.id, step.needs])).toEqual([
      ['remove:node-1', []],
      ['remove:node-2', []],
      ['record', ['remove:node-1', 'remove:node-2']],
    ])
  })
})

describe('compareRuns', () => {
  it('shows parameters that differ first', () => {
    const other = tracked('b', {params: {lr: '0.2', seed: '1'}, metrics: {}})
    const first = tracked('a', {params: {lr: '0.1', seed: '1'}})
    expect(compareRuns(['a', 'b'], [first, other])).toEqual({
      runs: ['a', 'b'],
      params: [
        {name: 'lr', values: ['0.1', '0.2'], isSame: false},
        {name: 'seed', values: ['1', '1'], isSame: true},
      ],
      metrics: [{name: 'loss', values: [0.1, null]}],
    })
  })
})
