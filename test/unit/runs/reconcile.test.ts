import {describe, expect, it} from 'vitest'
import {makeContext, silentReporter} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {NodeRunDetail} from '../../../src/lib/protocol/index.ts'
import type {Place} from '../../../src/lib/runs/find.ts'
import {leadsStill, reconcileRuns} from '../../../src/lib/runs/reconcile.ts'
import type {Records} from '../../../src/lib/runs/records.ts'
import {FINISHED, LEADERLESS, told} from '../../support/told.ts'

const second = {term: 2, leader: 'node-2'}
const rack = new Set(['node-1', 'node-2', 'node-3'])
const leads = (one: NodeRunDetail, others: NodeRunDetail[], known = rack, absent: string[] = []) => leadsStill({run: one.run, nodes: [one, ...others], absent}, one, known)

describe('who finishes the record of a run', () => {
  it('is who led it, once enough of the others are over and know of no newer leader', () => {
    expect(leads(told(1, FINISHED), [told(2, FINISHED)])).toBe(true)
    expect(leads(told(1, LEADERLESS), [told(2, LEADERLESS), told(3, LEADERLESS)])).toBe(true)
    expect(leads(told(2, FINISHED), [told(1, FINISHED)])).toBe(false)
  })

  it('is never an old leader where another one led the run on, who is at it or has ended it', () => {
    expect(leads(told(1, LEADERLESS), [told(2, second), told(3, second)])).toBe(false)
    expect(leads(told(1, FINISHED), [told(3, {...FINISHED, ...second})])).toBe(false)
    expect(leads(told(2, {...FINISHED, ...second}), [told(1, LEADERLESS), told(3, {...FINISHED, ...second})])).toBe(true)
  })

  it('is not known as long as the others may choose a leader, or do not answer and may have chosen one', () => {
    expect(leads(told(1, LEADERLESS), [told(2), told(3)])).toBe(undefined)
    expect(leads(told(1, LEADERLESS), [])).toBe(undefined)
    expect(leads(told(1, LEADERLESS), [], new Set(['node-1']))).toBe(true) // the others are no nodes of the rack any more
    expect(leads(told(1, LEADERLESS), [], rack, ['node-2'])).toBe(true) // it was never started there, so nobody could choose another leader
    expect(leads(told(1, LEADERLESS), [], rack, ['node-7'])).toBe(undefined)
  })

  it('is a node that has the committed result of a leader that died before it could write it down', () => {
    expect(leads(told(1, LEADERLESS), [told(2, FINISHED), told(3, LEADERLESS)])).toBe(false)
    expect(leads(told(2, FINISHED), [told(1, LEADERLESS), told(3, LEADERLESS)])).toBe(true)
    expect(leads(told(3, LEADERLESS), [told(1, LEADERLESS), told(2, FINISHED)])).toBe(false)
    expect(leads(told(2, FINISHED), [told(1)])).toBe(undefined)
  })

  it('is the first node of a run on two, whatever the other says', () => {
    expect(leads(told(1, LEADERLESS, 2), [])).toBe(true)
    expect(leads(told(1, LEADERLESS, 2), [told(2, {}, 2)])).toBe(true)
  })
})

it('nodes bring what they have, the newest leader finishes, and what is not known is left as it is and told', async () => {
  const asked: {node: string; leads: boolean}[] = []
  const warnings: string[] = []
  const hosts = new Map([1, 2, 3].map((number) => {
    const node = `node-${number}`
    return [node, {node, call: async (_verb: string, input: {leads: boolean}) => asked.push({node, leads: input.leads}) && {recorded: true}} as unknown as Host]
  }))
  // Hosts that are open serve on after the second Ctrl-C, without a connection being made.
  const context = makeContext({kill: AbortSignal.abort(), reporter: {...silentReporter, warn: (message) => void warnings.push(message)}})
  const place = {rack: {name: 'lab', nodes: [...rack].map((name) => ({name}))}, hosts} as unknown as Place
  const records = {tracking: {nodeUri: 'http://head', head: undefined, userAccess: () => ({})}} as unknown as Records
  const run = (nodes: NodeRunDetail[]) => reconcileRuns(place, [{run: 'digits-1', nodes}], records, context)

  expect(await run([told(1, LEADERLESS), told(2, {...FINISHED, ...second}), told(3, {...FINISHED, ...second})])).toEqual(['digits-1'])
  expect(asked.toSorted((a, b) => a.node.localeCompare(b.node))).toEqual([{node: 'node-1', leads: false}, {node: 'node-2', leads: true}, {node: 'node-3', leads: false}])
  expect(warnings).toEqual([])

  // The committed result of a leader that had no time to record it is told by another one, whose own part is through already.
  asked.length = 0
  await run([told(1, LEADERLESS), told(2, {...FINISHED, recorded: true}), told(3, {...FINISHED, recorded: true})])
  expect(asked.toSorted((a, b) => a.node.localeCompare(b.node))).toEqual([{node: 'node-1', leads: false}, {node: 'node-2', leads: true}])

  asked.length = 0
  expect(await run([told(1, LEADERLESS)])).toEqual([])
  expect(asked).toEqual([])
  expect(warnings).toEqual(['the record of digits-1 is not complete yet (node-1): whether another node has led the run on is known once more of node-1, node-2, node-3 answer and are done with it'])
})
