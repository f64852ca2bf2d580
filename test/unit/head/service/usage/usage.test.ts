import {expect, test} from 'vitest'
import {AnswerUsage} from '../../../../../src/lib/head/service/usage/answer-usage.ts'
import {Bucket} from '../../../../../src/lib/head/service/usage/bucket.ts'

const read = (type: string, ...chunks: string[]): AnswerUsage => {
  const usage = new AnswerUsage(type)
  for (const chunk of chunks) usage.add(Buffer.from(chunk))
  return usage
}
const JSON_TYPE = 'application/json; charset=utf-8'
const EVENTS = 'text/event-stream'
const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

test('an answer says what it took: of chats, embeddings and responses, in however many pieces', () => {
  const chat = JSON.stringify({choices: [], usage: {prompt_tokens: 7, completion_tokens: 5, total_tokens: 12}})
  expect(read(JSON_TYPE, chat.slice(0, 20), chat.slice(20)).end()).toEqual({prompt: 7, completion: 5})
  expect(read(JSON_TYPE, '{"usage": {"prompt_tokens": 3, "total_tokens": 3}}').end()).toEqual({
    prompt: 3,
    completion: 0,
  })
  const response = {usage: {input_tokens: 1, output_tokens: 2}}
  expect(read(JSON_TYPE, JSON.stringify(response)).end()).toEqual({prompt: 1, completion: 2})
  expect(read(EVENTS, event({type: 'response.completed', response})).end()).toEqual({prompt: 1, completion: 2})
})

test('a stream that tells its usage counts by it, another by its events, also when it was left', () => {
  const token = event({choices: [{delta: {content: 'é'}}], usage: null})
  const bytes = Buffer.from(token)
  const usage = new AnswerUsage(EVENTS)
  for (const byte of bytes) usage.add(Buffer.of(byte))
  expect(usage.end()).toEqual({prompt: 0, completion: 1})
  expect(usage.firstAt).toBeTypeOf('number')
  const told = event({choices: [], usage: {prompt_tokens: 9, completion_tokens: 2}})
  expect(read(EVENTS, token, token, token, told, 'data: [DONE]\n\n').end()).toEqual({prompt: 9, completion: 2})
  expect(read(EVENTS, ': a comment\n\n', 'data: [DONE]\n\n').end()).toBeUndefined()
})

test.each([
  ['nothing', ''],
  ['no JSON', 'usage'],
  ['a list', '[{"usage": 1}]'],
  ['null', 'null'],
  ['no number', '{"usage": {"prompt_tokens": "7"}}'],
  ['a debt', '{"usage": {"prompt_tokens": -7, "completion_tokens": 1}}'],
  ['more than there can be', '{"usage": {"prompt_tokens": 1e300}}'],
])('an answer that says %s took nothing that is known', (_what, text) => {
  expect(read(JSON_TYPE, text).end()).toBeUndefined()
})

test('an event without an end takes no memory, and those behind it count', () => {
  const usage = read(EVENTS, 'data: ', ...Array.from({length: 40}, () => 'x'.repeat(100_000)), '\n', event({}))
  expect(usage.end()).toEqual({prompt: 0, completion: 1})
})

test('a bucket lends what is used already, and says when it is paid back', () => {
  const bucket = new Bucket(2, 10, 0)
  expect(bucket.wait(1, 0)).toBe(0)
  bucket.take(15)
  expect(bucket.wait(1, 1000)).toBe(2) // -5 + 2, and 4 to go to 1
  expect(bucket.wait(1, 3000)).toBe(0)
  expect(bucket.wait(11, 3_600_000)).toBe(0.5) // never more than its burst
})
