import {expect, test} from 'vitest'
import {askingUsage, WithoutUsage} from '../../../../../src/lib/head/service/usage/stream-usage.ts'

const asking = (body: string | Buffer, path = '/v1/completions'): string | undefined =>
  askingUsage(path, Buffer.from(body))?.toString()

test('a request for a stream asks for its usage, and stays else as it is, byte by byte', () => {
  const wanted = '"stream_options":{"include_usage":true}'
  const rest = '"seed": 12345678901234567890, "stream": true, "stream": true,\n "x": 1.0e2, "y": "é\\u00e9$&"}'
  expect(asking(`\n{${rest}`)).toBe(`\n{${wanted},${rest}`)
  for (const given of ['null', '{}', '{\n"include_usage" :false}', '{"continuous_usage_stats": true}'])
    expect(asking(`{"stream_options" : ${given}, ${rest}`)).toBe(`{${wanted}, ${rest}`)
  expect(asking(`{"stream_options": {"own": "$&", "include_usage": false}, ${rest}`)).toBe(
    `{"stream_options":{"own":"$&","include_usage":true}, ${rest}`,
  )
  const spoken = '"prompt": "{\\"stream_options\\": null}"'
  expect(asking(`{${spoken}, "stream": true, "stream_options": null}`)).toBe(`{${spoken}, "stream": true, ${wanted}}`)
})

test.each([
  ['is asked already', '{"stream": true, "stream_options": {"include_usage": true}}'],
  ['is no stream', '{"stream": false}'],
  ['is no object', '["stream"]'],
  ['is no JSON', '{"stream": true'],
  ['is no UTF-8', Buffer.from([...Buffer.from('{"stream": true, "x": "'), 0xff, ...Buffer.from('"}')])],
  ['has other options', '{"stream": true, "stream_options": "all"}'],
  ['has them twice', '{"stream": true, "stream_options": {"a": 1}, "stream_options": {}}'],
  ['has them elsewhere, too', '{"stream": true, "x": {"stream_options": {}}, "stream_options": {"a": {}}}'],
  ['has them by another name', '{"stream": true, "stream\\u005foptions": {}}'],
  ['is too large', `{"stream": true, "x": "${'x'.repeat(4 * 1024 ** 2)}"}`],
])('a body that %s is not touched', (_what, body) => {
  expect(asking(body)).toBeUndefined()
})

test('other calls tell their usage by themselves', () => {
  expect(asking('{"stream": true}', '/v1/responses')).toBeUndefined()
})

test.each(['\n', '\r\n'])('a stream loses its usage in whatever pieces it comes, with lines that end in %j', (end) => {
  const events = [
    'data: {"choices": [{"text": "é"}], "usage": null}',
    ': ping',
    'data: {"choices": [1], "usage": {"a": 1}}',
  ]
  const usage = 'data: {"choices": [], "usage": {"prompt_tokens": 1}}'
  const stream = [...events, usage, 'data: [DONE]'].map((event) => event + end + end).join('')
  const filter = new WithoutUsage()
  const out = [...Buffer.from(`${stream}data: le`)].map((byte) => filter.add(Buffer.of(byte)))
  expect(Buffer.concat([...out, filter.end()]).toString()).toBe(
    `${[...events, 'data: [DONE]', ''].join(end + end)}data: le`.replace(', "usage": null', ''),
  )
})

test('an event without an end is not kept', () => {
  const filter = new WithoutUsage()
  expect(filter.add(Buffer.alloc(1024 ** 2 + 1, 'x'))).toHaveLength(1024 ** 2 + 1)
  expect(filter.end()).toHaveLength(0)
})
