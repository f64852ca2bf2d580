import {expect, test} from 'vitest'
import {parentsOf} from '../../../src/lib/lineage/parents.ts'
import type {Mlflow} from '../../../src/lib/tracking/index.ts'
import {World} from '../../support/lineage.ts'

test('models and runs that a run begins with are named by content; one that goes on is none', async () => {
  const world = new World()
  const run = world.run('digits-abcde')
  world.serve(run)
  const version = world.versions.get('digits/1')
  const mlflow = {
    getModel: () => Promise.resolve({name: 'digits', aliases: {production: '1'}}),
    getVersion: () => Promise.resolve(version),
    searchExperiments: () => Promise.resolve([{id: '1'}]),
    searchRuns: () => Promise.resolve([run]),
  } as unknown as Mlflow
  expect(await parentsOf(['digits@production', 'digits-abcde'], mlflow)).toEqual([
    {kind: 'model', name: 'digits/1', digest: version?.tags['flexrack.sha256']},
    {kind: 'run', name: 'digits-abcde', digest: run.tags['flexrack.record']},
  ])
  run.status = 'RUNNING'
  await expect(parentsOf(['digits-abcde'], mlflow)).rejects.toMatchObject({code: 'USAGE'})
})
