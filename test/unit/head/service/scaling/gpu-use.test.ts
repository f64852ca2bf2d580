import {expect, test} from 'vitest'
import {GpuUse, readGpuUse} from '../../../../../src/lib/head/service/scaling/gpu-use.ts'

const lease = (service: string, index = 0, more = {}): object => ({
  service,
  index,
  busy: 0.5,
  used: 10,
  memory: 64,
  ...more,
})

test('leases of one endpoint and GPU are one figure; another endpoint there has its own', () => {
  const gpus = new GpuUse()
  gpus.heard('a', readGpuUse([lease('endpoint-eyes-r1-0'), lease('endpoint-eyes-r1-1'), lease('endpoint-ears-r2-0')]))
  gpus.heard('b', readGpuUse([lease('endpoint-eyes-r1-2', 1)]))
  const of = {busy: 0.5, used: 10, memory: 64}
  expect(gpus.of(['eyes', 'ears'])).toEqual([
    {endpoint: 'eyes', node: 'a', index: 0, busy: 0.5, used: 20, memory: 128},
    {endpoint: 'ears', node: 'a', index: 0, ...of},
    {endpoint: 'eyes', node: 'b', index: 1, ...of},
  ])
})

test('they end with the leases, with their endpoint, and with an agent that fell silent', () => {
  let now = 0
  const gpus = new GpuUse(() => now)
  gpus.heard('a', readGpuUse([lease('endpoint-eyes-r1-0')]))
  expect(gpus.of(['ears'])).toEqual([])
  gpus.heard('a', [])
  expect(gpus.of(['eyes'])).toEqual([])
  gpus.heard('a', readGpuUse([lease('endpoint-eyes-r1-0')]))
  now = 30_000
  expect(gpus.of(['eyes'])).toHaveLength(1)
  now = 30_001
  expect(gpus.of(['eyes'])).toEqual([])
})

test('an endpoint whose name looks like a part of a service is found whole', () => {
  const gpus = new GpuUse()
  gpus.heard('a', readGpuUse([lease('endpoint-a-r1-0-r2-0')]))
  expect(gpus.of(['a', 'a-r1-0']).map(({endpoint}) => endpoint)).toEqual(['a-r1-0'])
})

test('what has no shape is passed over', () => {
  const all = [1, null, lease('endpoint-a-r1-0', -1), lease('x', 0, {busy: 'much'}), lease('x', 0, {used: 1.5})]
  for (const given of [undefined, 'x', {}, all]) expect(readGpuUse(given)).toEqual([])
})
