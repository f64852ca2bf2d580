import {expect, test} from 'vitest'
import {batches, modelOf, runOf, versionOf} from '../../../src/lib/tracking/wire.ts'

test('a run is read with integers and special floats given as numbers or as text, and with lists left out', () => {
  const run = runOf({
    info: {
      run_id: 'r',
      experiment_id: '1',
      status: 'RUNNING',
      start_time: '1700000000000',
      artifact_uri: 'mlflow-artifacts:/1/r/artifacts',
      lifecycle_stage: 'active',
    },
    data: {
      metrics: [
        {key: 'loss', value: 'NaN', timestamp: '5', step: '3'},
        {key: 'acc', value: 0.5, timestamp: 6},
      ],
      tags: [{key: 'a', value: 'b'}],
    },
  })
  expect(run).toEqual({
    id: 'r',
    name: '',
    experimentId: '1',
    user: '',
    status: 'RUNNING',
    startTime: 1_700_000_000_000,
    endTime: undefined,
    artifactUri: 'mlflow-artifacts:/1/r/artifacts',
    stage: 'active',
    params: {},
    tags: {a: 'b'},
    metrics: {
      loss: {key: 'loss', value: NaN, timestamp: 5, step: 3},
      acc: {key: 'acc', value: 0.5, timestamp: 6, step: 0},
    },
  })
})

test('aliases of a model are read as a record', () => {
  expect(modelOf({name: 'digits', aliases: [{alias: 'production', version: '3'}]}).aliases).toEqual({production: '3'})
})

test("a version's logged model is read from its source where the server does not name it", () => {
  expect(versionOf({name: 'd', version: 1, source: 'models:/m-abc'})).toMatchObject({
    version: '1',
    modelId: 'm-abc',
    runId: undefined,
  })
  expect(versionOf({name: 'd', version: 1, source: 'runs:/x/model'}).modelId).toBeUndefined()
})

test('a batch is cut so that each call holds what the server takes: 1000 metrics, 100 params, 100 tags, 1 MB', () => {
  const metrics = Array.from({length: 1700}, (_, step) => ({key: 'm', value: step, timestamp: 1, step}))
  const params = Object.fromEntries(Array.from({length: 250}, (_, index) => [`p${index}`, 'v']))
  const tags = {a: 'x'.repeat(300_000), b: 'y'.repeat(300_000)}
  const parts = batches({metrics, params, tags}) as {metrics?: unknown[]; params?: unknown[]; tags?: unknown[]}[]
  expect(
    parts.map((part) =>
      [part.metrics?.length, part.params?.length, part.tags?.length].find((length) => length !== undefined),
    ),
  ).toEqual([800, 800, 100, 100, 100, 50, 1, 1])
})

test('values that JSON cannot hold are sent as text', () => {
  const values = [NaN, Infinity, -Infinity, 1].map((value) => ({key: 'm', value, timestamp: 1, step: 0}))
  expect(batches({metrics: values})).toMatchObject([
    {metrics: [{value: 'NaN'}, {value: 'Infinity'}, {value: '-Infinity'}, {value: 1}]},
  ])
})

test('an empty batch is no call', () => {
  expect(batches({})).toEqual([])
})
