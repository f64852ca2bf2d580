import {expect, test} from 'vitest'
import type {Person} from '../../../../../src/lib/head/service/people/person.ts'
import {checkUserScope} from '../../../../../src/lib/head/service/people/scope-user.ts'

const RUN = 'a'.repeat(32)
const person: Person = {user: 'alice', teams: [], project: 'digits', role: 'member'}
const lookup: Parameters<typeof checkUserScope>[2] = {
  run: (id) => Promise.resolve(id === RUN ? {parent: undefined, artifacts: '', user: 'alice'} : undefined),
  model: () => Promise.resolve(undefined),
  trace: (id) => Promise.resolve(id === 'tr-1' ? '5' : undefined),
}
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
