import {expect, test} from 'vitest'
import {findRun} from '../../../src/lib/model/register.ts'
import type {Mlflow, TrackedRun} from '../../../src/lib/tracking/index.ts'

const run = (id: string, name: string, own?: string, user?: string): TrackedRun => {
  const tags = {...(own !== undefined && {'flexrack.run': own}), ...(user !== undefined && {'flexrack.user': user})}
  return {id, name, tags: {'mlflow.runName': name, ...tags}} as unknown as TrackedRun
}

/** A tracking server with these runs, the newest first. */
function serverWith(runs: TrackedRun[]): Mlflow {
  return {
    searchExperiments: async () => [{id: '1'}, {id: '2'}],
    searchRuns: async ({filter, limit}: {filter?: string; limit?: number}) => {
      const asked = /^tags\.`(.+)` = '(.*)'$/.exec(filter ?? '')
      return runs.filter(({tags}) => !asked || tags[asked[1] as string] === asked[2]).slice(0, limit)
    },
  } as unknown as Mlflow
}

test("a run of flexrack's is found by its id, whatever it or another one calls itself", async () => {
  const server = serverWith([run('b', 'digits-1'), run('a', 'my net', 'digits-1')])
  expect((await findRun(server, 'digits-1')).id).toBe('a')
})

test("a run of somebody else's that says to be this one is not taken for it", async () => {
  const forged = serverWith([run('b', 'x', 'digits-1', 'eve'), run('a', 'my net', 'digits-1', 'ann')])
  await expect(findRun(forged, 'digits-1')).rejects.toMatchObject({code: 'USAGE', details: {runs: ['b', 'a']}})
  const twice = serverWith([run('b', 'my net', 'digits-1', 'ann'), run('a', 'my net', 'digits-1', 'ann')])
  expect((await findRun(twice, 'digits-1')).id, 'a call that was made again').toBe('b')
})

test('a name that one run has is enough, and one that several have is not', async () => {
  const server = serverWith([run('b', 'net'), run('a', 'net'), run('c', 'tiny')])
  expect((await findRun(server, 'tiny')).id).toBe('c')
  await expect(findRun(server, 'net')).rejects.toMatchObject({code: 'USAGE', details: {runs: ['b', 'a']}})
})
