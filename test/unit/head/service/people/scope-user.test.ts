import {expect, test} from 'vitest'
import type {Person} from '../../../../../src/lib/head/service/people/person.ts'
import {checkUserScope} from '../../../../../src/lib/head/service/people/scope-user.ts'

const RUN = 'a'.repeat(32)
const OTHER = 'b'.repeat(32)
const folder = (name: string): string => `workspaces/digits/5/${name}/artifacts`
const person: Person = {user: 'alice', teams: [], project: 'digits', role: 'member'}
const lookup: Parameters<typeof checkUserScope>[2] = {
  run: (id) =>
    Promise.resolve(
      {
        [RUN]: {parent: undefined, artifacts: folder(RUN), user: 'alice'},
        [OTHER]: {parent: undefined, artifacts: folder(OTHER), user: 'ann'},
      }[id],
    ),
  model: (id) =>
    Promise.resolve(
      {
        'm-mine': {run: RUN, artifacts: folder('models/m-mine')},
        'm-ann': {run: OTHER, artifacts: folder('models/m-ann')},
      }[id],
    ),
  trace: (id) => Promise.resolve(id === 'tr-1' ? '5' : undefined),
}
const call = (method: string, path: string, body: Record<string, unknown> = {}, as = person): Promise<unknown> =>
  checkUserScope(as, {method, path, body: () => body}, lookup)
const post = (path: string, body: Record<string, unknown>): Promise<unknown> =>
  checkUserScope(person, {method: 'POST', path, body: () => body}, lookup)

test('a member tells of new traces, and neither takes over one of another experiment nor an assessment by its id', async () => {
  const trace = (id: string, experiment: unknown, more = {}): Promise<unknown> => {
    const location = {trace_location: {mlflow_experiment: {experiment_id: experiment}}}
    return post('/api/3.0/mlflow/traces', {trace: {trace_info: {trace_id: id, ...location, ...more}}})
  }
  await trace('tr-2', '6')
  await trace('tr-1', '5')
  await expect(trace('tr-1', '6')).rejects.toMatchObject({status: 403})
  await expect(trace('tr-2', undefined)).rejects.toMatchObject({status: 403})
  await expect(trace('tr-2', '6', {assessments: [{assessment_id: 'a-1'}]})).rejects.toMatchObject({status: 403})
  await expect(trace('tr-2', '6', {assessments: [{assessmentId: 'a-1'}]})).rejects.toMatchObject({status: 403})
})

test('whose a run is is written by no tag, in whatever form it comes', async () => {
  const path = '/api/2.0/mlflow/runs/log-batch'
  await post(path, {run_id: RUN, tags: [{key: 'a', value: 'b'}]})
  for (const tags of [[{key: 'Flexrack.User', value: 'bob'}], {key: 'flexrack.user', value: 'bob'}, 'flexrack.user'])
    await expect(post(path, {run_id: RUN, tags})).rejects.toMatchObject({status: 403})
})

test('a run says of no other project that it is its own, when it is made and later', async () => {
  const api = '/api/2.0/mlflow/runs'
  const tag = (value: string, key = 'flexrack.project'): object => ({key, value})
  await post(`${api}/create`, {experiment_id: '5', tags: [tag('digits')]})
  await post(`${api}/set-tag`, {run_id: RUN, ...tag('digits')})
  for (const key of ['flexrack.project', 'Flexrack.Project'])
    for (const [call, body] of [
      ['create', {experiment_id: '5', tags: [null, tag('secret', key)]}],
      ['set-tag', {run_id: RUN, ...tag('secret', key)}],
      ['log-batch', {run_id: RUN, tags: [tag('secret', key)]}],
      ['delete-tag', {run_id: RUN, key}],
    ] as const)
      await expect(post(`${api}/${call}`, body), call).rejects.toMatchObject({status: 403})
})

test('of a logged model the path and the body name the same one, and metrics are of a model of the project', async () => {
  const api = '/api/2.0/mlflow'
  await call('PATCH', `${api}/logged-models/m-mine`, {model_id: 'm-mine', status: 'LOGGED_MODEL_READY'})
  await expect(call('PATCH', `${api}/logged-models/m-mine`, {model_id: 'm-ann'})).rejects.toMatchObject({status: 403})
  await expect(call('PATCH', `${api}/logged-models/m-ann`, {})).rejects.toMatchObject({status: 403})
  const metric = (model: Record<string, unknown>): object => ({run_id: RUN, key: 'loss', value: 1, ...model})
  const gone = {status: 404}
  await post(`${api}/runs/log-metric`, {...metric({model_id: 'm-mine'})})
  await post(`${api}/runs/log-batch`, {run_id: RUN, metrics: [metric({model_id: 'm-mine'}), metric({})]})
  await expect(post(`${api}/runs/log-metric`, {...metric({model_id: 'm-gone'})})).rejects.toMatchObject(gone)
  for (const list of ['log-inputs', 'outputs'])
    await expect(post(`${api}/runs/${list}`, {run_id: RUN, models: [{model_id: 'm-gone'}]})).rejects.toMatchObject(gone)
  const batch = (metrics: unknown): Promise<unknown> => post(`${api}/runs/log-batch`, {run_id: RUN, metrics})
  await expect(batch([metric({}), metric({model_id: 'm-gone'})])).rejects.toMatchObject(gone)
  for (const metrics of [[metric({modelId: 'm-gone'})], {0: metric({model_id: 'm-gone'})}, ['x']])
    await expect(batch(metrics)).rejects.toMatchObject({status: 403})
})

test('files are written where a run of theirs has its own, whatever else a path has', async () => {
  const put = (path: string, method = 'PUT'): Promise<unknown> =>
    call(method, `/api/2.0/mlflow-artifacts/artifacts/${path}`)
  for (const path of [`5/${RUN}/artifacts/x`, `workspaces/digits/5/${RUN}/artifacts/x`, '5/models/m-mine/artifacts/x'])
    await put(path)
  const others = [
    `5/${OTHER}/artifacts/${RUN}/x`,
    `5/models/m-ann/artifacts/${RUN}/x`,
    `5/traces/tr-1/artifacts/${RUN}`,
    `${RUN}/x`,
  ]
  for (const path of [
    ...others,
    `5/${RUN}/artifacts/../../${OTHER}/artifacts/x`,
    `5/${RUN}/artifacts/%252e%252e/x`,
    'm-mine/x',
  ])
    for (const method of ['PUT', 'DELETE']) await expect(put(path, method), path).rejects.toMatchObject({status: 403})
})

test('what is not known is open to nobody, a maintainer neither, nor is a slash that is written otherwise', async () => {
  const mia: Person = {user: 'mia', teams: [], project: 'digits', role: 'maintainer'}
  await call('POST', '/api/2.0/mlflow/experiments/delete', {experiment_id: '5'}, mia)
  const closed = [
    'POST gateway/secrets/create',
    'POST webhooks',
    'PATCH workspaces/secret',
    'PUT scorers/online-config',
  ]
  const written = [
    'DELETE workspaces%2Fsecret',
    'GET gateway%2Fsecrets%2Flist',
    'POST runs%2Fdelete',
    'PATCH logged-models/m-mine%2ftags',
  ]
  const none = [
    'POST new-in-mlflow-4',
    'GET new-in-mlflow-4',
    'GET runs/search',
    'PUT runs/search',
    'DELETE logged-models/m-mine;x/y',
  ]
  for (const one of [...closed, ...written, ...none]) {
    const [method, path] = one.split(' ') as [string, string]
    await expect(call(method, `/api/3.0/mlflow/${path}`, {}, mia), one).rejects.toMatchObject({status: 403})
  }
})
