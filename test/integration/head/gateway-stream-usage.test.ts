import OpenAI from 'openai'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget, type Target} from '../../support/target.ts'

let server: TestServer
let target: Target
let key: string
let isStrict = false
const asked: Record<string, unknown>[] = []

/** Two answers of three words each, as OpenAI's API streams them (https://platform.openai.com/docs/api-reference/chat). */
const deltas = [0, 1].flatMap((index) => [
  {index, delta: {role: 'assistant', content: 'the "usage": null is'}, finish_reason: null},
  {index, delta: {content: ' é\n\n'}, finish_reason: null},
  {
    index,
    delta: {tool_calls: [{index: 0, id: 'call_1', type: 'function', function: {name: 'add', arguments: '{"a":1}'}}]},
    finish_reason: 'tool_calls',
  },
])

beforeAll(async () => {
  server = await openTestServer()
  target = await startTarget('engine', (_request, response, body) => {
    const given = JSON.parse(body.toString()) as {stream?: boolean; stream_options?: {include_usage?: boolean}}
    asked.push(given)
    if (isStrict && given.stream_options) return void response.writeHead(422).end('{"error": "unknown field"}')
    const tells = given.stream_options?.include_usage === true
    const about = {id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'chat', ...(tells && {usage: null})}
    const usage = {prompt_tokens: 11, completion_tokens: 40, total_tokens: 51}
    const events = deltas.map((choice) => ({...about, choices: [choice]}))
    const text = [...events, ...(tells ? [{...about, choices: [], usage}] : [])]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('')
    const bytes = Buffer.from(`${text}data: [DONE]\n\n`)
    response.writeHead(200, {'content-type': 'text/event-stream', 'content-length': bytes.length})
    response.write(bytes.subarray(0, 200)) // in the middle of an event
    setImmediate(() => response.end(bytes.subarray(200)))
  })
  await server.activate('chat', [target.url], {protocol: 'openai'})
  const body = {kind: 'endpoint', endpoint: 'chat', client: 'team', ttl_seconds: 600, tokens_per_minute: 1_000_000}
  key = ((await (await server.call('POST', '/flexrack/v1/tokens', {body})).json()) as {token: string}).token
})
afterAll(async () => {
  await target.stop()
  await server.close()
})

const used = (): number => server.parts.clients.counts('chat', 'team').tokens
type Asked = Omit<OpenAI.ChatCompletionCreateParamsStreaming, 'model' | 'messages' | 'stream'>

async function chunksOf(given: Asked): Promise<OpenAI.ChatCompletionChunk[]> {
  const client = new OpenAI({baseURL: `${server.url}/endpoints/chat/v1`, apiKey: key, maxRetries: 0})
  const messages = [{role: 'user' as const, content: 'Hello'}]
  const chunks: OpenAI.ChatCompletionChunk[] = []
  for await (const chunk of await client.chat.completions.create({model: 'chat', messages, stream: true, ...given}))
    chunks.push(chunk)
  await expect.poll(() => server.parts.clients.traffic('chat').map((one) => one.in_flight)).toEqual([0])
  return chunks
}

test('a stream counts what it says at its end, of all its answers, and its client sees none of that', async () => {
  const before = used()
  const chunks = await chunksOf({n: 2})
  expect(chunks.map(({choices}) => choices)).toEqual(deltas.map((choice) => [choice]))
  expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false)
  expect(used() - before).toBe(51)
})

test('a client that asks for the usage gets it, as the engine says it', async () => {
  const before = used()
  const chunks = await chunksOf({stream_options: {include_usage: true}})
  expect(chunks.at(-1)).toMatchObject({choices: [], usage: {total_tokens: 51}})
  expect(chunks[0]!.usage).toBeNull()
  expect(used() - before).toBe(51)
})

test('what it says of a stream besides stays, as do numbers that are no doubles', async () => {
  const options = '{"include_usage": false, "continuous_usage_stats": true, "own": 1}'
  const text = `{"stream": true, "stream_options": ${options}, "seed": 12345678901234567890}`
  const answer = await server.call('POST', '/endpoints/chat/v1/chat/completions', {body: text, token: key})
  expect(await answer.text()).not.toContain('total_tokens')
  expect(asked.at(-1)!.stream_options).toEqual({include_usage: true, own: 1})
})

test('samples have what the client got, and a copy is sent as the client wrote it', async () => {
  const taken = server.call('POST', '/flexrack/v1/endpoints/chat/sample', {body: {requests: 1, seconds: 20}})
  while (!server.parts.samples.wants('chat')) await new Promise((done) => setTimeout(done, 5))
  const chunks = await chunksOf({})
  const {exchanges} = (await (await taken).json()) as {exchanges: {answer: {events: unknown[]}}[]}
  expect(exchanges[0]!.answer.events).toEqual([...chunks, '[DONE]'])

  const revision = server.parts.endpoints.find('chat')!.revision
  const active = {release: 'r1', targets: [target.url], protocol: 'openai'}
  const canary = {...active, release: 'r2', since: 's', steps: [0], shadow: true}
  const put = await server.call('PUT', '/flexrack/v1/endpoints/chat', {body: {revision, document: {active, canary}}})
  expect(put.status).toBe(200)
  const before = asked.length
  await chunksOf({n: 2})
  await expect.poll(() => asked.length - before).toBe(2)
  expect(asked.slice(-2).map((one) => 'stream_options' in one)).toEqual([true, false])
})

test('an engine that refuses to be asked gets the request as it came, and its events count', async () => {
  isStrict = true
  const before = used()
  expect(await chunksOf({})).toHaveLength(deltas.length)
  expect(used() - before).toBe(deltas.length)
  expect(asked.slice(-2).map((one) => 'stream_options' in one)).toEqual([true, false])
})
