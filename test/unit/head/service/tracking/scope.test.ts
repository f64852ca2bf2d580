import {describe, expect, test} from 'vitest'
import {checkRunScope, type Lookup, type RunCall} from '../../../../../src/lib/head/service/tracking/scope.ts'

const MINE = 'a'.repeat(32)
const CHILD = 'b'.repeat(32)
const OTHER = 'c'.repeat(32)
const caller = {kind: 'run', id: 't', runId: MINE, experimentId: '1'} as const
const runs: Record<string, {parent: string | undefined; artifacts: string}> = {
  [MINE]: {parent: undefined, artifacts: `1/${MINE}/artifacts`},
  [CHILD]: {parent: MINE, artifacts: `1/${CHILD}/artifacts`},
  [OTHER]: {parent: undefined, artifacts: `1/${OTHER}/artifacts`},
}
const owners: Record<string, {owner: string | undefined; isEmpty: boolean}> = {
  mine: {owner: '1', isEmpty: false},
  other: {owner: '2', isEmpty: false},
  free: {owner: undefined, isEmpty: true},
  lost: {owner: undefined, isEmpty: true},
  nobodys: {owner: undefined, isEmpty: false},
}
const lookup: Lookup = {
  experiment: (_caller, name) => Promise.resolve({experiment: {experiment_id: '1', asked: name}}),
  adopt: ({runId}, {run_name: name}) => Promise.resolve({run: {info: {run_id: runId}, name}}),
  registered: (name) => Promise.resolve(owners[name]),
  claim: (name, experiment) => Promise.resolve(name === 'lost' ? '2' : experiment),
  run: (id) => Promise.resolve(runs[id]),
  trace: (id) => Promise.resolve({'tr-0b': '2', 'tr-0c': '1'}[id]),
  model: (id) =>
    Promise.resolve(
      {
        'm-mine': {run: CHILD, artifacts: '1/models/m-mine/artifacts', experiment: '1'},
        'm-other': {run: OTHER, artifacts: '1/models/m-other/artifacts', experiment: '1'},
        'm-away': {run: OTHER, artifacts: '2/models/m-away/artifacts', experiment: '2'},
      }[id],
    ),
}
type Case = [method: string, path: string, body: Record<string, unknown>]
const API = '/api/2.0/mlflow'
const PUT = '/api/2.0/mlflow-artifacts/artifacts'
const TRACES = '/api/3.0/mlflow/traces'
const trace = (more: object = {}) => ({
  trace: {trace_info: {trace_id: 'tr-0a', trace_location: {mlflow_experiment: {experiment_id: '1'}}, ...more}},
})

const callOf = (method: string, path: string, body: Record<string, unknown> = {}, hasNoRun = false): RunCall => {
  const [plain, query] = path.split('?', 2)
  return {method, path: plain as string, query: new URLSearchParams(query), body: () => body, hasNoRun}
}

async function may(method: string, path: string, body: Record<string, unknown> = {}): Promise<boolean> {
  return checkRunScope(caller, callOf(method, path, body), lookup).then(
    () => true,
    (error: {status: number}) => {
      expect(error.status).toBe(403)
      return false
    },
  )
}

describe("a run's token", () => {
  test.each<Case>([
    ['POST', `${API}/runs/log-batch`, {run_id: MINE}],
    ['POST', `${API}/runs/update`, {run_id: CHILD}],
    ['POST', `${API}/runs/log-batch`, {run_id: MINE, metrics: [{key: 'auc', value: 1, model_id: 'm-other'}]}],
    ['POST', `${API}/runs/create`, {tags: [{key: 'mlflow.parentRunId', value: CHILD}]}],
    ['POST', `${API}/runs/delete`, {run_id: CHILD}],
    ['POST', `${API}/logged-models`, {source_run_id: MINE}],
    ['PATCH', `${API}/logged-models/m-mine`, {}],
    ['PUT', `${PUT}/1/${MINE}/artifacts/model/weights.bin`, {}],
    ['PUT', `${PUT}/1/models/m-mine/artifacts/MLmodel`, {}],
    ['POST', `/api/2.0/mlflow-artifacts/mpu/create/1/${MINE}/artifacts`, {path: 'weights.bin'}],
    ['PUT', `${PUT}/1/${MINE}/artifacts/gro%C3%9F.bin`, {}],
    ['POST', `${API}/registered-models/create`, {name: 'digits'}],
    ['POST', `${API}/registered-models/alias`, {name: 'mine'}],
    ['DELETE', `${API}/registered-models/alias`, {name: 'mine'}],
    ['POST', `${API}/model-versions/create`, {name: 'free'}],
    ['PATCH', `${API}/model-versions/update`, {name: 'mine'}],
    ['POST', `${API}/model-versions/set-tag`, {name: 'mine', key: 'flexrack.experiment'}],
    ['POST', TRACES, trace()],
    [
      'POST',
      TRACES,
      trace({trace_id: 'tr-0c', tags: {'mlflow.traceName': 'x'}, assessments: [{assessment_name: 'good'}]}),
    ],
    ['PATCH', `${API}/logged-models/m-mine`, {model_id: 'm-mine'}],
    ['DELETE', `${API}/logged-models/m-mine`, {}],
    ['POST', `${API}/runs/set-tag`, {run_id: CHILD, key: 'mlflow.parentRunId', value: MINE}],
    ['POST', `${API}/runs/set-tag`, {run_id: MINE, key: 'flexrack.cause', value: 'x'}],
    ['POST', `${API}/runs/log-batch`, {run_id: MINE, tags: [{key: 'a', value: 'b'}], metrics: []}],
    ['PUT', `${PUT}/1/traces/tr-0a/artifacts/traces.json`, {}],
    ['GET', `${API}/runs/get`, {}],
    ['GET', '/version', {}],
    ['GET', '/api/3.0/mlflow/server-info', {}],
    ['GET', `${PUT}/1/${OTHER}/artifacts/checkpoint.pt`, {}],
    ['POST', `${API}/runs/search`, {}],
  ])('opens %s %s', async (method, path, body) => {
    expect(await may(method, path, body)).toBe(true)
  })

  test.each<Case>([
    ['POST', `${API}/runs/log-batch`, {run_id: OTHER}],
    ['POST', `${API}/runs/log-batch`, {}],
    ['POST', `${API}/runs/log-batch`, {run_id: MINE, metrics: [{key: 'auc'}, {key: 'auc', model_id: 'm-away'}]}],
    ['POST', `${API}/runs/log-batch`, {run_id: MINE, metrics: [{key: 'auc', modelId: 'm-away'}]}],
    ['POST', `${API}/runs/log-metric`, {run_id: MINE, key: 'auc', model_id: 'm-gone'}],
    ['POST', `${API}/runs/log-inputs`, {run_id: MINE, models: [{model_id: 'm-away'}]}],
    ['POST', `${API}/runs/outputs`, {run_id: MINE, models: [{model_id: 'm-away'}]}],
    ['PUT', `${API}/runs/search`, {}],
    ['GET', `${API}/webhooks`, {}],
    ['GET', `${API}/gateway%2Fsecrets%2Flist`, {}],
    ['GET', '/api/3.0/mlflow/workspaces%2Fsecret', {}],
    ['GET', '/api/3.0/mlflow/new-in-mlflow-4', {}],
    ['POST', `${API}/runs/log-batch`, {run_id: 'd'.repeat(32)}],
    ['POST', `${API}/runs/log-batch`, {run_uuid: MINE, runId: OTHER}],
    ['POST', `${API}/runs/log-batch`, {run_uuid: MINE, run_id: OTHER}],
    ['POST', `${API}/runs/log-batch`, {run_id: MINE, run_uuid: OTHER}],
    ['POST', `${API}/runs/log-batch`, {run_id: [MINE]}],
    ['POST', `${API}/runs/delete`, {run_id: MINE}],
    ['POST', `${API}/runs/delete`, {run_id: CHILD, run_uuid: MINE}],
    ['POST', `${API}/runs/delete`, {run_id: OTHER}],
    ['POST', `${API}/runs/create`, {tags: {key: 'mlflow.parentRunId', value: MINE}}],
    ['POST', `${API}/runs/create`, {tags: [{key: 'mlflow.parentRunId', value: OTHER}]}],
    [
      'POST',
      `${API}/runs/create`,
      {
        tags: [
          {key: 'mlflow.parentRunId', value: MINE},
          {key: 'mlflow.parentRunId', value: OTHER},
        ],
      },
    ],
    ['POST', `${API}/experiments/create`, {}],
    ['POST', `${API}/experiments/update`, {experiment_id: '1', new_name: 'x'}],
    ['POST', `${API}/experiments/delete`, {experiment_id: '1'}],
    ['POST', `${API}/logged-models`, {source_run_id: OTHER}],
    ['POST', `${API}/logged-models`, {}],
    ['PATCH', `${API}/logged-models/m-other`, {}],
    ['PUT', `${PUT}/1/${OTHER}/artifacts/x`, {}],
    ['POST', `/api/2.0/mlflow-artifacts/mpu/create/1/${OTHER}/artifacts`, {path: 'weights.bin'}],
    ['POST', `/api/2.0/mlflow-artifacts/mpu/create/1/${MINE}`, {path: 'weights.bin'}],
    ['PUT', `${PUT}/1/${OTHER}/artifacts/${MINE}/x`, {}],
    ['PUT', `${PUT}/1/${MINE}/artifacts/..%2F..%2F${OTHER}%2Fartifacts%2Fx`, {}],
    ['PUT', `${PUT}/1/${MINE}/artifacts/%252e%252e/x`, {}],
    ['PUT', `${PUT}/1/${MINE}/other/x`, {}],
    ['PUT', `${PUT}/1/models/m-other/artifacts/MLmodel`, {}],
    ['POST', TRACES, trace({trace_location: {mlflow_experiment: {experiment_id: '2'}}})],
    ['POST', TRACES, trace({trace_id: 'tr-0b'})],
    ['POST', TRACES, trace({trace_id: undefined})],
    ['POST', TRACES, trace({trace_id: ['tr-0a']})],
    ['POST', TRACES, trace({trace_id: 'tr-0a/../tr-0b'})],
    ['POST', TRACES, trace({traceId: 'tr-0b'})],
    ...[
      'mlflow.artifactLocation',
      'mlflow.trace.spansLocation',
      'mlflow.trace.archiveLocation',
      'MLFLOW.TRACE.ARCHIVELOCATION ',
      'mlflow.trace.archiveLocàtion',
    ].map((key) => ['POST', TRACES, trace({tags: {[key]: 'file:///etc'}})] satisfies Case),
    ['POST', TRACES, trace({tags: [{key: 'mlflow.trace.archiveLocation'}]})],
    ['POST', TRACES, trace({assessments: [{assessment_id: 'a-1'}]})],
    ['POST', TRACES, trace({assessments: [{assessmentId: 'a-1'}]})],
    ['POST', TRACES, trace({assessments: {assessment_id: 'a-1'}})],
    ['PATCH', `${API}/logged-models/m-mine`, {model_id: 'm-other', status: 3}],
    ['PATCH', `${API}/logged-models/m-mine`, {modelId: 'm-other', status: 3}],
    ['POST', `${API}/runs/set-tag`, {run_id: MINE, key: 'mlflow.parentRunId', value: OTHER}],
    ['POST', `${API}/runs/set-tag`, {run_id: MINE, key: 'mlflow.parentRunId', value: 'd'.repeat(32)}],
    ['POST', `${API}/runs/delete-tag`, {run_id: CHILD, key: 'mlflow.parentRunId'}],
    [
      'POST',
      `${API}/runs/log-batch`,
      {
        run_id: MINE,
        tags: [
          {key: 'a', value: 'b'},
          {key: 'mlflow.parentrunid', value: OTHER},
        ],
      },
    ],
    ['POST', `${API}/runs/log-batch`, {run_id: MINE, tags: {key: 'a'}}],
    ...[
      'flexrack.run',
      'flexrack.project',
      'flexrack.nodes',
      'FlexRack.Run',
      ' flexrack.run',
      'flexrack.sweep',
      'fléxrack.run',
    ].map((key) => ['POST', `${API}/runs/set-tag`, {run_id: MINE, key, value: 'x'}] satisfies Case),
    ['POST', `${API}/registered-models/set-tag`, {name: 'mine', key: 'Flexrack.Experiment', value: '2'}],
    ['POST', TRACES, {trace: {traceInfo: {}, trace_info: {trace_location: {mlflow_experiment: {experiment_id: '1'}}}}}],
    [
      'POST',
      '/api/2.0/mlflow/traces',
      {experiment_id: '2', trace: {trace_info: {trace_location: {mlflow_experiment: {experiment_id: '1'}}}}},
    ],
    ['PUT', `${PUT}/2/traces/tr-0a/artifacts/traces.json`, {}],
    ['PUT', `${PUT}/1/traces/tr-0a/traces.json`, {}],
    ['DELETE', `${API}/registered-models/delete`, {name: 'mine'}],
    ['POST', `${API}/registered-models/rename`, {name: 'mine', new_name: 'x'}],
    ...['other', 'lost', 'nobodys', '', undefined, null, ['mine'], {mine: 1}].map(
      (name) => ['POST', `${API}/registered-models/alias`, {name}] satisfies Case,
    ),
    ['POST', `${API}/registered-models/alias`, {name: 'mine', Name: 'other'}],
    ['PUT', `${API}/registered-models/alias`, {name: 'mine'}],
    ['PATCH', `${API}/registered-models/update`, {name: 'other'}],
    ['DELETE', `${API}/model-versions/delete-tag`, {name: 'other'}],
    ['POST', `${API}/model-versions/transition-stage`, {name: 'other'}],
    ['POST', `${API}/registered-models/set-tag`, {name: 'mine', key: 'flexrack.experiment', value: '2'}],
    ['DELETE', `${API}/registered-models/delete-tag`, {name: 'mine', key: 'flexrack.experiment'}],
    ['POST', `${API}/registered-models/create`, {name: 'x', tags: [{key: 'flexrack.experiment', value: '2'}]}],
    ['POST', `${API}/registered-models/create`, {name: 'x', tags: {key: 'a'}}],
    ['DELETE', `${API}/model-versions/delete`, {}],
    ['POST', '/graphql', {}],
    ['GET', '/graphql', {}],
    ['GET', '/', {}],
    ['GET', '/flexrack%2Fv1/status', {}],
    ['GET', '/%2566lexrack/v1/status', {}],
    ['GET', '/ajax-api/2.0/mlflow/runs/get', {}],
    ['GET', '/api/3.0/mlflow/gateway/secrets/list', {}],
    ['GET', `${API}/webhooks`, {}],
    ['POST', '/ajax-api/2.0/mlflow/runs/log-batch', {run_id: MINE}],
  ])('refuses %s %s with %o', async (method, path, body) => {
    expect(await may(method, path, body)).toBe(false)
  })
})

test('two runs that name each other as parent end the search instead of going round', async () => {
  const circle: Lookup = {
    ...lookup,
    run: (id) => Promise.resolve({parent: id === OTHER ? CHILD : OTHER, artifacts: ''}),
  }
  await expect(
    checkRunScope(caller, callOf('POST', `${API}/runs/set-tag`, {run_id: OTHER}), circle),
  ).rejects.toMatchObject({status: 403})
})

test("a model that a run creates is its project's, by a tag that comes with its creation", async () => {
  const verdict = await checkRunScope(
    caller,
    callOf('POST', `${API}/registered-models/create`, {name: 'new', tags: [{key: 'a', value: 'b'}]}),
    lookup,
  )
  expect(verdict.body).toEqual({
    name: 'new',
    tags: [
      {key: 'a', value: 'b'},
      {key: 'flexrack.experiment', value: '1'},
    ],
  })
})

describe('what programs ask of a server of their own', () => {
  const verdict = (path: string, body: Record<string, unknown>, hasNoRun = false) =>
    checkRunScope(caller, callOf('POST', `${API}/${path}`, body, hasNoRun), lookup)

  test("an experiment by any name is the run's own, to be found and to be made", async () => {
    const found = await checkRunScope(
      caller,
      callOf('GET', `${API}/experiments/get-by-name?experiment_name=my%20net`),
      lookup,
    )
    expect(found).toEqual({answer: {experiment: {experiment_id: '1', asked: 'my net'}}})
    expect(await verdict('experiments/create', {name: 'my net'})).toEqual({answer: {experiment_id: '1'}})
  })

  test('a rank without a run gets the run itself, and nothing is made', async () => {
    expect(await verdict('runs/create', {run_name: 'first', experiment_id: '1'}, true)).toEqual({
      answer: {run: {info: {run_id: MINE}, name: 'first'}},
    })
  })

  test('a rank that has a run gets one nested in it', async () => {
    const {body} = await verdict('runs/create', {
      run_name: 'second',
      experiment_id: '9',
      tags: [{key: 'a', value: 'b'}],
    })
    expect(body).toEqual({
      run_name: 'second',
      experiment_id: '1',
      tags: [
        {key: 'a', value: 'b'},
        {key: 'mlflow.parentRunId', value: MINE},
      ],
    })
  })

  test('a logged model is made in its experiment, and a nested run is not who its tags say', async () => {
    expect(await verdict('logged-models', {source_run_id: MINE, experiment_id: '2'})).toEqual({
      body: {source_run_id: MINE, experiment_id: '1'},
    })
    const tags = [
      {key: 'flexrack.run', value: 'another'},
      {key: 'mlflow.parentRunId', value: MINE},
    ]
    expect(await verdict('runs/create', {tags})).toEqual({body: {experiment_id: '1', tags: [tags[1]]}})
  })

  test.each([true, false])(
    'a run that names its parent is nested there, in the experiment of both (a rank without a run: %s)',
    async (hasNoRun) => {
      const tags = [{key: 'mlflow.parentRunId', value: CHILD}]
      expect(await verdict('runs/create', {experiment_id: '9', tags}, hasNoRun)).toEqual({
        body: {experiment_id: '1', tags},
      })
    },
  )
})
