import {describe, expect, test} from 'vitest'
import {checkRunScope, type Lookup} from '../../../../src/lib/head/service/scope.ts'

const MINE = 'a'.repeat(32)
const CHILD = 'b'.repeat(32)
const OTHER = 'c'.repeat(32)
const caller = {kind: 'run', id: 't', runId: MINE, experimentId: '1'} as const
const runs: Record<string, {parent: string | undefined; artifacts: string}> = {
  [MINE]: {parent: undefined, artifacts: `1/${MINE}/artifacts`},
  [CHILD]: {parent: MINE, artifacts: `1/${CHILD}/artifacts`},
  [OTHER]: {parent: undefined, artifacts: `1/${OTHER}/artifacts`},
}
const lookup: Lookup = {
  run: (id) => Promise.resolve(runs[id]),
  model: (id) => Promise.resolve({'m-mine': {run: CHILD, artifacts: '1/models/m-mine/artifacts'}, 'm-other': {run: OTHER, artifacts: '1/models/m-other/artifacts'}}[id]),
}
const API = '/api/2.0/mlflow'
const PUT = '/api/2.0/mlflow-artifacts/artifacts'

async function may(method: string, path: string, body: Record<string, unknown> = {}): Promise<boolean> {
  return checkRunScope(caller, method, path, () => body, lookup).then(() => true, (error: {status: number}) => {
    expect(error.status).toBe(403)
    return false
  })
}

describe("a run's token", () => {
  test.each([
    ['POST', `${API}/runs/log-batch`, {run_id: MINE}],
    ['POST', `${API}/runs/update`, {run_id: CHILD}],
    ['POST', `${API}/runs/create`, {tags: [{key: 'mlflow.parentRunId', value: CHILD}]}],
    ['POST', `${API}/logged-models`, {source_run_id: MINE}],
    ['PATCH', `${API}/logged-models/m-mine`, {}],
    ['PUT', `${PUT}/1/${MINE}/artifacts/model/weights.bin`, {}],
    ['PUT', `${PUT}/1/models/m-mine/artifacts/MLmodel`, {}],
    ['PUT', `${PUT}/1/${MINE}/artifacts/gro%C3%9F.bin`, {}],
    ['POST', `${API}/registered-models/create`, {name: 'digits'}],
    ['POST', `${API}/registered-models/alias`, {}],
    ['DELETE', `${API}/registered-models/alias`, {}],
    ['POST', '/api/3.0/mlflow/traces', {trace: {trace_info: {trace_location: {mlflow_experiment: {experiment_id: '1'}}}}}],
    ['PUT', `${PUT}/1/traces/tr-0a/artifacts/traces.json`, {}],
    ['GET', `${API}/runs/get`, {}],
    ['GET', '/version', {}],
    ['GET', '/api/3.0/mlflow/server-info', {}],
    ['GET', `${PUT}/1/${OTHER}/artifacts/checkpoint.pt`, {}],
    ['POST', `${API}/runs/search`, {}],
  ])('opens %s %s', async (method, path, body) => {
    expect(await may(method, path, body)).toBe(true)
  })

  test.each([
    ['POST', `${API}/runs/log-batch`, {run_id: OTHER}],
    ['POST', `${API}/runs/log-batch`, {}],
    ['POST', `${API}/runs/log-batch`, {run_id: 'd'.repeat(32)}],
    ['POST', `${API}/runs/log-batch`, {run_uuid: MINE, runId: OTHER}],
    ['POST', `${API}/runs/log-batch`, {run_uuid: MINE, run_id: OTHER}],
    ['POST', `${API}/runs/log-batch`, {run_id: MINE, run_uuid: OTHER}],
    ['POST', `${API}/runs/log-batch`, {run_id: [MINE]}],
    ['POST', `${API}/runs/delete`, {run_id: MINE}],
    ['POST', `${API}/runs/create`, {}],
    ['POST', `${API}/runs/create`, {tags: [{key: 'mlflow.parentRunId', value: OTHER}]}],
    ['POST', `${API}/runs/create`, {tags: [{key: 'mlflow.parentRunId', value: MINE}, {key: 'mlflow.parentRunId', value: OTHER}]}],
    ['POST', `${API}/experiments/create`, {name: 'x'}],
    ['POST', `${API}/logged-models`, {source_run_id: OTHER}],
    ['POST', `${API}/logged-models`, {}],
    ['PATCH', `${API}/logged-models/m-other`, {}],
    ['PUT', `${PUT}/1/${OTHER}/artifacts/x`, {}],
    ['PUT', `${PUT}/1/${OTHER}/artifacts/${MINE}/x`, {}],
    ['PUT', `${PUT}/1/${MINE}/artifacts/..%2F..%2F${OTHER}%2Fartifacts%2Fx`, {}],
    ['PUT', `${PUT}/1/${MINE}/artifacts/%252e%252e/x`, {}],
    ['PUT', `${PUT}/1/${MINE}/other/x`, {}],
    ['PUT', `${PUT}/1/models/m-other/artifacts/MLmodel`, {}],
    ['POST', '/api/3.0/mlflow/traces', {trace: {trace_info: {trace_location: {mlflow_experiment: {experiment_id: '2'}}}}}],
    ['POST', '/api/3.0/mlflow/traces', {trace: {traceInfo: {}, trace_info: {trace_location: {mlflow_experiment: {experiment_id: '1'}}}}}],
    ['POST', '/api/2.0/mlflow/traces', {experiment_id: '2', trace: {trace_info: {trace_location: {mlflow_experiment: {experiment_id: '1'}}}}}],
    ['PUT', `${PUT}/2/traces/tr-0a/artifacts/traces.json`, {}],
    ['PUT', `${PUT}/1/traces/tr-0a/traces.json`, {}],
    ['DELETE', `${API}/registered-models/delete`, {name: 'digits'}],
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
  const circle: Lookup = {...lookup, run: (id) => Promise.resolve({parent: id === OTHER ? CHILD : OTHER, artifacts: ''})}
  await expect(checkRunScope(caller, 'POST', `${API}/runs/set-tag`, () => ({run_id: OTHER}), circle)).rejects.toMatchObject({status: 403})
})
