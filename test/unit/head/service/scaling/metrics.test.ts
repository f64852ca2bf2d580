import {expect, test} from 'vitest'
import type {EndpointRecord} from '../../../../../src/lib/head/service/documents/endpoints.ts'
import {ScalingCounts} from '../../../../../src/lib/head/service/scaling/counts.ts'
import {ScaledEndpoint} from '../../../../../src/lib/head/service/scaling/endpoint.ts'
import {GpuUse} from '../../../../../src/lib/head/service/scaling/gpu-use.ts'
import {scalingMetrics} from '../../../../../src/lib/head/service/scaling/metrics.ts'

const PLACES = ['a', 'b', 'c'].map((service, at) => ({service, node: 'node-1', url: `http://127.0.0.1:${at + 1}`}))
const RULES = {min: 0, max: 3, target: 1, idle: 2, down: 1, longestStart: 60, places: PLACES}

/** Ten looks a second; servers are ready 300 ms after they are wanted. */
function play(one: ScaledEndpoint, seconds: number, from: number, load: {queued: number; inFlight: number}): number {
  for (let now = from; now < from + seconds * 1000; now += 100) {
    one.tick({...load, answered: 0}, {now, inFlight: () => 0, isHeard: () => true})
    for (const {service, state, since} of one.places.all())
      if (state === 'starting' && now - since >= 300) one.places.saw(service, 'ready', now)
  }
  return from + seconds * 1000
}

test('what the head chose and why, how long a wake took, and which servers there are, over two releases', () => {
  const counts = new ScalingCounts()
  const first = new ScaledEndpoint('r1', RULES, new Set(), 0, counts)
  let now = play(first, 1, 0, {queued: 1, inFlight: 0})
  now = play(first, 10, now, {queued: 0, inFlight: 3})
  play(first, 70, now, {queued: 0, inFlight: 0})
  const second = new ScaledEndpoint('r2', RULES, new Set(['a']), 0, counts)
  play(second, 3, 0, {queued: 0, inFlight: 1})
  second.places.heard('b', {state: 'failed', restarts: 0, exit: 'exit code 3'}, 0)
  expect(counts.decisions).toMatchObject({request: 1, burst: 1, idle: 1})
  expect(counts.wakes.total).toBe(1)
  expect(counts.wakes.sum).toBeGreaterThanOrEqual(300)
  expect(counts.wakes.sum).toBeLessThanOrEqual(500)
  const documents: Record<string, EndpointRecord['document']> = {
    fixed: {active: {release: 'r7', targets: ['http://10.0.0.1:1', 'http://10.0.0.2:1']}},
    none: {active: null},
    scaled: {active: {release: 'r2', targets: [], scaling: RULES}},
  }
  const gpus = new GpuUse()
  const lease = {index: 1, busy: 0.5, used: 10, memory: 64}
  gpus.heard('a', [
    {...lease, service: 'endpoint-fixed-r7-0'},
    {...lease, service: 'endpoint-gone-r1-0'},
  ])
  const text = scalingMetrics({
    endpoints: {names: () => Object.keys(documents), get: (name) => ({revision: 1, document: documents[name]!})},
    scaler: {
      gpus,
      counts: (name) => (name === 'scaled' ? counts : undefined),
      figures: (name) => (name === 'scaled' ? second.figures(0, () => true) : undefined),
    },
    health: {
      isOpen: (target) => target !== 'http://10.0.0.2:1',
      outliers: {isOut: (target) => target.includes('10.0.0.1')},
    },
  } as Parameters<typeof scalingMetrics>[0])
  for (const line of [
    'servers_wanted{endpoint="fixed",release="r7"} 2',
    'servers{endpoint="fixed",release="r7",state="ready"} 1',
    'servers{endpoint="fixed",release="r7",state="lost"} 1',
    'servers_ejected{endpoint="fixed",release="r7"} 1',
    'servers_wanted{endpoint="none",release=""} 0',
    'servers_wanted{endpoint="scaled",release="r2"} 1',
    'servers{endpoint="scaled",release="r2",state="ready"} 1',
    'servers{endpoint="scaled",release="r2",state="off"} 2',
    'scaling_decisions_total{endpoint="scaled",reason="request"} 1',
    'scaling_failures_total{endpoint="scaled"} 0',
    'gpu_busy_ratio{endpoint="fixed",node="a",gpu="1"} 0.5',
    'gpu_memory_used_bytes{endpoint="fixed",node="a",gpu="1"} 10',
    'gpu_memory_leased_bytes{endpoint="fixed",node="a",gpu="1"} 64',
    'wake_seconds_count{endpoint="scaled"} 1',
    'wake_seconds_bucket{endpoint="scaled",le="0.25"} 0',
  ])
    expect(text).toContain(`flexrack_gateway_${line}\n`)
  expect(text).not.toContain('"r1"')
})
