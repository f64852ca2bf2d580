import {expect, test} from 'vitest'
import {contentOf} from '../../../../../src/lib/head/service/sampling/content.ts'
import {redact} from '../../../../../src/lib/head/service/sampling/redact.ts'
import {Samples, type Answered} from '../../../../../src/lib/head/service/sampling/samples.ts'

const path = (text: string): string[] => text.split('.')
const bytes = (text: string): Buffer => Buffer.from(text)

test('what is at a path is left out, with its kind; names of secrets always', () => {
  const value = {
    messages: [
      {role: 'user', content: 'my name'},
      {role: 'user', content: [1, 2]},
    ],
    max_tokens: 16,
    api_key: 'sk-1',
    headers: {'X-Auth-Token': 'secret', token: 7},
  }
  expect(redact(value, [path('messages.*.content')])).toEqual({
    messages: [
      {role: 'user', content: '[text of 7]'},
      {role: 'user', content: '[list of 2]'},
    ],
    max_tokens: 16,
    api_key: '[secret]',
    // A number is none.
    headers: {'X-Auth-Token': '[secret]', token: 7},
  })
  expect(redact({a: {b: 1}, c: null}, [path('a'), path('c.d')])).toEqual({a: '[object of 1]', c: null})
})

test('a body is JSON, events, text or Base64, by what it is', () => {
  const json = {type: 'application/json; charset=utf-8', bytes: bytes('{"a": 1}')}
  expect(contentOf(json, [])).toMatchObject({json: {a: 1}})
  const stream = 'data: {"delta": "Hi"}\n\ndata: [DONE]\n\n'
  expect(contentOf({type: 'text/event-stream', bytes: bytes(stream)}, [path('delta')])).toMatchObject({
    events: [{delta: '[text of 2]'}, '[DONE]'],
  })
  expect(contentOf({type: 'text/csv', bytes: bytes('a,b')}, [])).toMatchObject({text: 'a,b'})
  for (const text of ['a=1&api_key=sk-1', '{"password": "p", "x": NaN}', 'Authorization: Bearer x'])
    expect(contentOf({type: 'text/plain', bytes: bytes(text)}, [])).toHaveProperty('omitted')
  expect(contentOf({type: undefined, bytes: Buffer.of(0xff, 0xfe)}, [])).toEqual({base64: '//4='})
})

test('nothing is in the sample of what may hide what is to be redacted', () => {
  for (const body of [bytes('name,\nAda'), Buffer.of(0xff), bytes('{"a": 1}\0tensor')])
    expect(contentOf({type: 'application/octet-stream', bytes: body}, [path('name')])).toEqual({
      type: 'application/octet-stream',
      omitted: expect.stringContaining('redacted'),
    })
  expect(contentOf({type: 'text/event-stream', bytes: bytes('data: Ada\n\n')}, [path('name')])).toMatchObject({
    events: [],
  })
  expect(contentOf({type: 'application/json', bytes: undefined}, [])).toHaveProperty('omitted')
})

test('what is nested so deeply that it cannot be looked through is left out', () => {
  const deep = bytes(`{"api_key": "sk-1", "a": ${'['.repeat(3000)}${']'.repeat(3000)}}`)
  expect(contentOf({type: 'application/json', bytes: deep}, [])).toEqual({
    type: 'application/json',
    omitted: 'nested too deeply',
  })
  const stream = Buffer.concat([bytes('data: '), deep, bytes('\n\n')])
  expect(contentOf({type: 'text/event-stream', bytes: stream}, [])).toMatchObject({events: []})
})

const answered = (more: Partial<Answered> = {}): Answered => ({
  endpoint: 'digits',
  release: 'r1',
  method: 'POST',
  path: '/v2/models/digits/infer',
  ms: 1.234,
  status: 200,
  request: {type: 'application/json', bytes: bytes('{}')},
  answer: {type: 'application/json', bytes: bytes('{}')},
  ...more,
})
const wanted = {most: 2, ms: 60_000, redact: []}

test('a sample has what was answered while it was taken, of its endpoint, and no more than was asked for', async () => {
  const samples = new Samples()
  samples.offer(answered())
  expect(samples.wants('digits')).toBe(false)
  const sampled = samples.collect('digits', wanted, new AbortController().signal)
  expect([samples.wants('digits'), samples.wants('other')]).toEqual([true, false])
  samples.offer(answered({endpoint: 'other'}))
  for (const status of [200, 500, 503]) samples.offer(answered({status}))
  expect((await sampled)?.exchanges.map(({status}) => status)).toEqual([200, 500])
  expect(samples.wants('digits')).toBe(false)
})

test('bodies that are too much are counted, and who goes away leaves nothing behind', async () => {
  const samples = new Samples()
  const gone = new AbortController()
  const sampled = samples.collect('digits', {...wanted, most: 100}, gone.signal)
  for (let index = 0; index < 10; index++)
    samples.offer(answered({request: {type: 'text/plain', bytes: Buffer.alloc(1024 ** 2, 'a')}}))
  gone.abort()
  const {exchanges, dropped} = (await sampled)!
  expect([exchanges.length, dropped]).toEqual([7, 3])
  expect(samples.wants('digits')).toBe(false)
})

test('so many at most take samples at once', () => {
  const samples = new Samples()
  const gone = new AbortController()
  const all = Array.from({length: 9}, () => samples.collect('digits', wanted, gone.signal))
  expect(all.filter(Boolean)).toHaveLength(8)
  gone.abort()
})
