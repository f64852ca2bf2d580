import {expect, test} from 'vitest'
import {loadBetween, type TrafficLook} from '../../../src/lib/endpoint/load-figures.ts'
import type {ReleaseCounts} from '../../../src/lib/head/index.ts'

const NOTHING = {in_flight: 0, requests: 0, failed: 0, tokens: {prompt: 0, completion: 0}, latencies: [], first: []}

function release(id: string, more: Partial<ReleaseCounts> = {}): ReleaseCounts {
  return {...NOTHING, release: id, percent: 50, refused: 0, abandoned: 0, batches: {requests: 0, rows: 0}, ...more}
}

function look(at: number, releases: ReleaseCounts[], more: object = {}): TrafficLook {
  const digits = {name: 'digits', queued: 0, waited: [], releases, clients: [], servers: [], ...more}
  return {at, since: 0, endpoints: [digits]}
}

const EARLY = look(10_000, [
  release('r1', {requests: 100, failed: 4, latencies: [[5, 96]], batches: {requests: 90, rows: 900}}),
  release('r2', {requests: 10, latencies: [[20, 10]]}),
])
const LATE = look(12_000, [
  release('r1', {
    requests: 140,
    failed: 5,
    in_flight: 3,
    latencies: [
      [5, 96],
      [7, 39],
    ],
    batches: {requests: 92, rows: 908},
    tokens: {prompt: 10, completion: 30},
    first: [[40, 2]],
  }),
  release('r2', {requests: 20, latencies: [[20, 20]]}),
])

test('figures are those of the time in between, of each release and of all together', () => {
  const {seconds, loads} = loadBetween(EARLY, LATE)
  expect(seconds).toBe(2)
  expect(loads[0]).toMatchObject({requests: 25, failed: 0.5, inFlight: 3, p50: 7, p99: 20, tokens: 20, batch: 4})
  expect(loads[0]?.releases).toMatchObject([
    {release: 'r1', requests: 20, p50: 7, p99: 7, firstP50: 40, batch: 4},
    {release: 'r2', requests: 5, p50: 20, firstP50: null, batch: null},
  ])
})

test('without an earlier look, and of a head that was started anew, they are since its start', () => {
  expect(loadBetween(undefined, EARLY)).toMatchObject({seconds: 10, loads: [{requests: 11, p50: 5, p99: 20}]})
  const anew = {...LATE, since: 11_000}
  expect(loadBetween(EARLY, anew)).toMatchObject({seconds: 1, loads: [{requests: 160}]})
})

test('where nothing came there is no latency; what was forgotten and counted anew is not negative', () => {
  const idle = loadBetween(LATE, {...LATE, at: 13_000}).loads[0]
  expect(idle).toMatchObject({requests: 0, p50: null, p99: null, firstP50: null, batch: null})
  const client = {...NOTHING, client: 'team-a', limited: 0}
  const before = look(0, [], {clients: [{...client, requests: 50}], servers: [{url: 'a', in_flight: 1, served: 9}]})
  const after = look(1000, [], {
    clients: [{...client, requests: 2, limited: 1}],
    servers: [{url: 'a', in_flight: 0, served: 11}],
  })
  expect(loadBetween(before, after).loads[0]).toMatchObject({
    clients: [{client: 'team-a', requests: 2, limited: 1}],
    servers: [{url: 'a', inFlight: 0, requests: 2}],
  })
})
