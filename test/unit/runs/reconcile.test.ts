import {describe, expect, it} from 'vitest'
import {makeContext, silentReporter} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {NodeRunDetail} from '../../../src/lib/protocol/index.ts'
import type {Place} from '../../../src/lib/runs/find.ts'
import {leadsStill, reconcileRuns} from '../../../src/lib/runs/reconcile.ts'
import type {Records} from '../../../src/lib/runs/records.ts'
import {FINISHED, LEADERLESS, reported} from '../../support/reported.ts'

const second = {term: 2, leader: 'node-2'}
const rack = new Set(['node-1', 'node-2', 'node-3'])
const leads = (one: NodeRunDetail, others: NodeRunDetail[], known = rack, absent: string[] = []) =>
  leadsStill({run: one.run, nodes: [one, ...others], absent}, one, known)

describe('who finishes the record of a run', () => {
  it('is who led it, once enough of the others are over and know of no newer leader', () => {
    expect(leads(reported(1, FINISHED), [reported(2, FINISHED)])).toBe(true)
    expect(leads(reported(1, LEADERLESS), [reported(2, LEADERLESS), reported(3, LEADERLESS)])).toBe(true)
    expect(leads(reported(2, FINISHED), [reported(1, FINISHED)])).toBe(false)
  })

  it('is never an old leader where another one led the run on, who is at it or has ended it', () => {
    expect(leads(reported(1, LEADERLESS), [reported(2, second), reported(3, second)])).toBe(false)
    expect(leads(reported(1, FINISHED), [reported(3, {...FINISHED, ...second})])).toBe(false)
    expect(
      leads(reported(2, {...FINISHED, ...second}), [reported(1, LEADERLESS), reported(3, {...FINISHED, ...second})]),
    ).toBe(true)
  })

  it('is not known as long as the others may choose a leader, or do not answer and may have chosen one', () => {
    expect(leads(reported(1, LEADERLESS), [reported(2), reported(3)])).toBe(undefined)
    expect(leads(reported(1, LEADERLESS), [])).toBe(undefined)
    // the others are no nodes of the rack any more
    expect(leads(reported(1, LEADERLESS), [], new Set(['node-1']))).toBe(true)
    // it was never started there, so nobody could choose another leader
    expect(leads(reported(1, LEADERLESS), [], rack, ['node-2'])).toBe(true)
    expect(leads(reported(1, LEADERLESS), [], rack, ['node-7'])).toBe(undefined)
  })

  it('is a node that has the committed result of a leader that died before it could write it down', () => {
    expect(leads(reported(1, LEADERLESS), [reported(2, FINISHED), reported(3, LEADERLESS)])).toBe(false)
    expect(leads(reported(2, FINISHED), [reported(1, LEADERLESS), reported(3, LEADERLESS)])).toBe(true)
    expect(leads(reported(3, LEADERLESS), [reported(1, LEADERLESS), reported(2, FINISHED)])).toBe(false)
    expect(leads(reported(2, FINISHED), [reported(1)])).toBe(undefined)
  })

  it('is the first node of a run on two, whatever the other says', () => {
    expect(leads(reported(1, LEADERLESS, 2), [])).toBe(true)
    expect(leads(reported(1, LEADERLESS, 2), [reported(2, {}, 2)])).toBe(true)
  })
})

it('nodes bring what they have, the newest leader finishes, and what is not known is left as it is and told', async () => {
  const requested: {node: string; leads: boolean}[] = []
  const warnings: string[] = []
  const hosts = new Map(
    [1, 2, 3].map((number) => {
      const node = `node-${number}`
      return [
        node,
        {
          node,
          call: async (_verb: string, input: {leads: boolean}) =>
            requested.push({node, leads: input.leads}) && {recorded: true},
        } as unknown as Host,
      ]
    }),
  )
  // Hosts that are open serve on after the second Ctrl-C, without a connection being made.
  const context = makeContext({
    kill: AbortSignal.abort(),
    reporter: {...silentReporter, warn: (message) => void warnings.push(message)},
  })
  const place = {rack: {name: 'lab', nodes: [...rack].map((name) => ({name}))}, hosts} as unknown as Place
  const records = {tracking: {nodeUri: 'http://head', head: undefined, userAccess: () => ({})}} as unknown as Records
  const run = (nodes: NodeRunDetail[]) => reconcileRuns(place, [{run: 'digits-1', nodes}], records, context)

  expect(
    await run([reported(1, LEADERLESS), reported(2, {...FINISHED, ...second}), reported(3, {...FINISHED, ...second})]),
  ).toEqual(['digits-1'])
  expect(requested.toSorted((a, b) => a.node.localeCompare(b.node))).toEqual([
    {node: 'node-1', leads: false},
    {node: 'node-2', leads: true},
    {node: 'node-3', leads: false},
  ])
  expect(warnings).toEqual([])

  // The committed result of a leader that had no time to record it is told by another one, whose own part is through
  // already.
  requested.length = 0
  await run([
    reported(1, LEADERLESS),
    reported(2, {...FINISHED, recorded: true}),
    reported(3, {...FINISHED, recorded: true}),
  ])
  expect(requested.toSorted((a, b) => a.node.localeCompare(b.node))).toEqual([
    {node: 'node-1', leads: false},
    {node: 'node-2', leads: true},
  ])

  requested.length = 0
  expect(await run([reported(1, LEADERLESS)])).toEqual([])
  expect(requested).toEqual([])
  expect(warnings).toEqual([
    'the record of digits-1 is not complete yet (node-1): whether another node has led the run on is known once more of node-1, node-2, node-3 answer and are done with it',
  ])
})
