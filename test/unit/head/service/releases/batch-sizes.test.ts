import {expect, test} from 'vitest'
import {BatchSizes, rowsOf} from '../../../../../src/lib/head/service/releases/batch-sizes.ts'

const INFER = '/v2/models/digits/infer'

test.each([
  ['{"inputs":[{"name":"x","shape":[8,4],"datatype":"FP32","data":[1]}]}', 8],
  ['{"inputs": [{"name": "x", "datatype": "FP32", "shape": [ 3 ], "data": []}, {"shape": [9]}]}', 3],
  [`{"id":"${'i'.repeat(2000)}","inputs":[{"shape":[8]}]}`, undefined],
  ['{"inputs":[{"name":"x","shape":["8"]}]}', undefined],
  ['{"inputs":[{"name":"x","shape":[99999999999]}]}', undefined],
  ['\u0000\u0001', undefined],
])('rows are the first dimension of the first tensor: %s', (body, rows) => {
  expect(rowsOf(INFER, Buffer.from(body))).toBe(rows)
})

test('other calls, and bodies that are passed on as they come, tell none', () => {
  expect(rowsOf('/v1/completions', Buffer.from('{"shape":[8]}'))).toBeUndefined()
  expect(rowsOf(INFER, undefined)).toBeUndefined()
})

test('buckets for Prometheus have all that is as large as their end', () => {
  const sizes = new BatchSizes()
  for (const rows of [1, 8, 8, 5000]) sizes.add(rows)
  expect([sizes.mean, sizes.most]).toEqual([1254.3, 5000])
  const lines = sizes.lines('endpoint="digits"')
  expect(lines).toContain('_bucket{endpoint="digits",le="4"} 1')
  expect(lines).toContain('_bucket{endpoint="digits",le="8"} 3')
  expect(lines).toContain('_bucket{endpoint="digits",le="+Inf"} 4')
  expect(lines).toContain('_sum{endpoint="digits"} 5017')
})
