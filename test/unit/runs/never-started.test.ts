import {expect, it} from 'vitest'
import type {Rack} from '../../../src/lib/rack/index.ts'
import {closeNeverStarted} from '../../../src/lib/runs/never-started.ts'
import type {Records} from '../../../src/lib/runs/records.ts'
import type {FoundRun} from '../../../src/lib/runs/types.ts'
import type {TrackedRun} from '../../../src/lib/tracking/index.ts'

const rack = {name: 'lab', nodes: [{name: 'node-1'}, {name: 'node-2'}]} as unknown as Rack
const record = (
  run: string,
  minutes: number,
  parts: Partial<TrackedRun> = {},
  tags: Record<string, string> = {},
): TrackedRun => ({
  id: run,
  name: run,
  experimentId: '1',
  user: 'me',
  status: 'RUNNING',
  startTime: Date.now() - minutes * 60_000,
  endTime: undefined,
  artifactUri: '',
  stage: 'active',
  metrics: {},
  params: {},
  tags: {'flexrack.run': run, 'flexrack.rack': 'lab', 'flexrack.nodes': 'node-1,node-2', ...tags},
  ...parts,
})

it('ends the record of a run that no node has ever seen, and of no other', async () => {
  const ended: string[] = []
  const mlflow = {
    getRun: async (id: string) => ({id}),
    setTag: async () => {},
    updateRun: async (id: string) => void ended.push(id),
  }
  const records = {tracking: {mlflow}, away: undefined} as unknown as Records
  const tracked = [
    record('dead', 11),
    record('starting', 9),
    record('done', 11, {status: 'FINISHED'}),
    record('alive', 11),
    record('elsewhere', 11, {}, {'flexrack.rack': 'other'}),
    record('left', 11, {}, {'flexrack.nodes': 'node-1,node-9'}),
    record('nowhere', 11, {}, {'flexrack.nodes': ''}),
  ]
  const found: FoundRun[] = [{run: 'alive', nodes: []}]
  await closeNeverStarted(rack, found, records, tracked, new Map([['node-2', new Error('away')]]))
  expect(ended).toEqual([])
  await closeNeverStarted(rack, found, records, tracked, new Map())
  expect(ended).toEqual(['dead'])
  expect(tracked[0]).toMatchObject({status: 'FAILED'})
})
