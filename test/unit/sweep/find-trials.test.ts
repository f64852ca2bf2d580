import {expect, it} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {Trial} from '../../../src/lib/protocol/index.ts'
import type {Looked} from '../../../src/lib/runs/index.ts'
import {findTrialRuns} from '../../../src/lib/sweep/find-trials.ts'
import {reported} from '../../support/reported.ts'

it('a trial goes on that another node leads while its first one does not answer; one that came to only some of its nodes begins anew', async () => {
  const calls: string[] = []
  const hosts = new Map(
    ['node-2', 'node-3'].map((node) => [
      node,
      {
        node,
        call: async (verb: string) => calls.push(`${verb} ${node}`) && {status: 'stopped', left: []},
      } as unknown as Host,
    ]),
  )
  const context = makeContext({kill: AbortSignal.abort()}) // so that open hosts serve on, and no connection is made
  const find = async (failed: Looked['failed']) => {
    const trial = {number: 0, attempt: 1, run: 'digits-1'} as Trial
    const finding = {
      place: {hosts, manifest: {tracking: {experiment: 'e'}}},
      engine: {drop: async () => 2},
      tracking: {mlflow: {ensureExperiment: async () => ({id: '1'}), searchRuns: async () => []}},
      runs: {look: async () => ({runs: [{run: 'digits-1', nodes: [reported(2), reported(3)]}], failed})},
    } as unknown as Parameters<typeof findTrialRuns>[1]
    return {found: [...(await findTrialRuns([trial], finding, context)).keys()], trial}
  }
  expect(await find(new Map([['node-1', new Error('no connection')]]))).toMatchObject({
    found: ['digits-1'],
    trial: {run: 'digits-1', attempt: 1},
  })
  expect(calls).toEqual([])
  expect(await find(new Map())).toMatchObject({found: [], trial: {run: null, attempt: 2}})
  expect(calls).toEqual(['run.stop node-2', 'run.stop node-3'])
})
