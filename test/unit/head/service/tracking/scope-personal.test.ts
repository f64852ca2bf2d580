import {expect, test} from 'vitest'
import {checkPersonalScope} from '../../../../../src/lib/head/service/tracking/scope-personal.ts'

const PLACE = 'mlflow.trace.archiveLocation'
type Case = [path: string, body: Record<string, unknown>]

test.each<Case>([
  ['/api/2.0/mlflow/experiments/create', {name: 'x', artifact_location: 'file:///home'}],
  ['/api/2.0/mlflow/preview/mlflow/experiments/create', {name: 'x', artifactLocation: '/etc'}],
  ['/api/3.0/mlflow/traces', {trace: {trace_info: {trace_id: 'tr-1', tags: {[PLACE]: '/home'}}}}],
  ['/api/3.0/mlflow/traces', {trace: {traceInfo: {traceId: 'tr-1', tags: {' MLFLOW.artifactlocation': '/home'}}}}],
  ['/api/2.0/mlflow/traces', {experiment_id: '1', tags: [{key: 'mlflow.artifactLocation', value: '/home'}]}],
  ['/api/2.0/mlflow/traces/tr-1/tags', {key: PLACE, value: '/home'}],
  ['/api/3.0/mlflow/traces/tr-1/tags', {key: 'mlflow.trace.spansLocation', value: '/home'}],
])('%s %o, which names a place on the head, is refused', (path, body) => {
  expect(() => checkPersonalScope(path, () => body)).toThrow(/personal token/)
})

test.each<Case>([
  ['/api/2.0/mlflow/experiments/create', {name: 'x', artifact_location: ''}],
  ['/api/2.0/mlflow/runs/set-tag', {key: PLACE, value: 'a word'}],
  ['/api/3.0/mlflow/traces', {trace: {trace_info: {trace_id: 'tr-1', tags: {'mlflow.user': 'me'}}}}],
])('%s %o is open', (path, body) => {
  expect(() => checkPersonalScope(path, () => body)).not.toThrow()
})
