import {expect, test} from 'vitest'
import {readCanary, requireBeside, requireCanary, requireNoCanary} from '../../../src/lib/endpoint/canary.ts'
import {
  isUnfinished,
  keptReleases,
  newDocument,
  previousRelease,
  putBeside,
  putRelease,
  settled,
  switchTo,
  takeBack,
  type EndpointDocument,
  type EndpointRecord,
  type Release,
} from '../../../src/lib/endpoint/document.ts'

const now = new Date('2026-01-02T03:04:05Z')

function release(id: string): Release {
  const replicas = [{index: 0, node: 'a', service: `endpoint-m-${id}-0`, url: `http://127.0.0.1:${id.slice(1)}`}]
  const model = {name: 'm', version: id.slice(1), files: []}
  return {id, model, runtime: 'onnx', state: 'starting', replicas, createdAt: '', by: 'me', kept: true}
}

/** r1 serves, r2 is beside it. */
function beside(): EndpointDocument {
  const served = settled(switchTo(putRelease(newDocument('m', now), release('r1')), release('r1'), now, false), '')
  return putBeside(served, release('r2'), now, {steps: [10]})
}

test.each<[string, boolean, number[] | undefined]>([
  ['10%', false, [10]],
  ['0.5 %', false, [0.5]],
  ['10', true, [10, 50, 100]],
  ['60', true, [60, 100]],
  ['5,25,100', true, [5, 25, 100]],
  ['5, 25', true, [5, 25, 100]],
  ['10,50', false, undefined],
  ['100', false, undefined],
  ['0', true, undefined],
  ['101', true, undefined],
  ['50,10', true, undefined],
  ['ten', false, undefined],
  ['10,,50', true, undefined],
  ['', false, undefined],
  ['1e1', false, undefined],
])('--canary %j with a judge: %s means %j', (canary, judge, steps) => {
  if (steps) expect(readCanary({canary, judge})?.steps).toEqual(steps)
  else expect(() => readCanary({canary, judge})).toThrow(expect.objectContaining({code: 'USAGE'}))
})

test('a shadow gets copies alone', () => {
  expect(readCanary({shadow: true})).toEqual({steps: [0], shadow: true})
})

test('a header is one that could be sent, and is known in any case of its letters', () => {
  expect(readCanary({canary: '10', header: 'X-User'})).toEqual({steps: [10], header: 'x-user'})
  expect(() => readCanary({canary: '10', header: 'x user:'})).toThrow(expect.objectContaining({code: 'USAGE'}))
  expect(readCanary({})).toBeUndefined()
})

test('a canary runs beside the active release: nothing is unfinished, and its files stay', () => {
  const document = beside()
  expect(document.active?.release).toBe('r1')
  expect(document.canary).toEqual({
    release: 'r2',
    since: now.toISOString(),
    targets: ['http://127.0.0.1:2'],
    steps: [10],
  })
  expect([isUnfinished(document), keptReleases(document), settled(document, 'x')]).toEqual([
    false,
    ['r1', 'r2'],
    document,
  ])
})

test('promoted it is the active release, and a rollback goes back', () => {
  const document = settled(switchTo(beside(), {...release('r2'), verdict: 'as good'}, now, false), '')
  expect([document.active?.release, document.canary]).toEqual(['r2', undefined])
  expect(document.releases.map((one) => [one.id, one.state, one.verdict])).toEqual([
    ['r2', 'active', 'as good'],
    ['r1', 'stopped', undefined],
  ])
  expect(previousRelease(document)?.id).toBe('r1')
})

test('taken back it is stopped with the reason, and no rollback goes to it', () => {
  const document = settled(takeBack(beside(), 'it is slow'), '')
  expect([document.active?.release, document.canary, previousRelease(document)]).toEqual(['r1', undefined, undefined])
  expect(document.releases[0]).toMatchObject({id: 'r2', state: 'stopped', rejected: true, reason: 'it is slow'})
  expect(() => requireCanary(document)).toThrow('endpoint m has no canary; release r2: it is slow')
})

test('one change after the other, beside what serves and speaks the same, at a head that knows how', () => {
  const record: EndpointRecord = {revision: 1, document: beside(), inFlight: {}, served: {}, figures: {}}
  const refusal = {
    code: 'CONFLICT',
    message: 'endpoint m has a canary under way: release r2; it ends before another deploy',
    hint: 'flexrack endpoint promote m\nflexrack endpoint abort m',
  }
  expect(() => requireNoCanary(record, 'another deploy')).toThrow(expect.objectContaining(refusal))
  expect(() => requireBeside(record, undefined)).not.toThrow()
  expect(() => requireBeside(record, 'openai')).toThrow('release r1 speaks v2 and the new one openai')
  expect(() => requireBeside({...record, document: newDocument('m', now)}, undefined)).toThrow('serves nothing yet')
  const {figures: _, ...older} = record
  expect(() => requireBeside(older, undefined)).toThrow('the head is older than canaries')
})
