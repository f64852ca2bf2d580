import OpenAI, {AuthenticationError, InternalServerError, NotFoundError} from 'openai'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget, type Answer, type Target} from '../../support/target.ts'

let server: TestServer
let target: Target
/** What the stand-in for an engine does with the next request; each test sets its own. */
let answer: Answer
let asked: string[]

beforeEach(async () => {
  asked = []
  server = await openTestServer()
  target = await startTarget('engine', (request, response, body) => {
    asked.push(`${request.method} ${request.url}`)
    answer(request, response, body)
  })
  await server.activate('chat', [target.url], {protocol: 'openai', health: '/health'})
})
afterEach(async () => {
  await target.stop()
  await server.close()
})

const client = (given: {apiKey?: string; maxRetries?: number} = {}): OpenAI =>
  new OpenAI({baseURL: `${server.url}/endpoints/chat/v1`, apiKey: server.admin, maxRetries: 0, ...given})

const json =
  (value: unknown, status = 200): Answer =>
  (_request, response) =>
    void response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(value))
const chunk = (content: string): string =>
  `data: ${JSON.stringify({id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'chat', choices: [{index: 0, delta: {content}, finish_reason: null}]})}\n\n`
const talk = {model: 'chat', messages: [{role: 'user' as const, content: 'Hello'}]}

describe("OpenAI's own client", () => {
  test('lists models, chats, completes and embeds', async () => {
    answer = json({object: 'list', data: [{id: 'chat', object: 'model', created: 1, owned_by: 'us'}]})
    expect((await client().models.list()).data.map(({id}) => id)).toEqual(['chat'])
    answer = (_request, response, body) =>
      json({
        id: 'c',
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: {role: 'assistant', content: (JSON.parse(body.toString()) as typeof talk).messages[0]!.content},
          },
        ],
      })(_request, response, body)
    expect((await client().chat.completions.create(talk)).choices[0]!.message.content).toBe('Hello')
    answer = json({id: 'c', object: 'text_completion', choices: [{index: 0, text: 'there', finish_reason: 'stop'}]})
    expect((await client().completions.create({model: 'chat', prompt: 'Hi'})).choices[0]!.text).toBe('there')
    answer = json({object: 'list', data: [{object: 'embedding', index: 0, embedding: [0.5, 0.25]}], usage: {}})
    expect(
      (await client().embeddings.create({model: 'chat', input: 'x', encoding_format: 'float'})).data[0]!.embedding,
    ).toEqual([0.5, 0.25])
    expect(asked).toEqual([
      'GET /v1/models',
      'POST /v1/chat/completions',
      'POST /v1/completions',
      'POST /v1/embeddings',
    ])
  })

  test('gets each token when the engine says it, not when it is done', async () => {
    let more: () => void = () => {}
    answer = (_request, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream', 'cache-control': 'no-cache'})
      response.write(chunk('one'))
      more = () => void response.end(`${chunk('two')}data: [DONE]\n\n`)
    }
    const words: (string | null | undefined)[] = []
    for await (const part of await client().chat.completions.create({...talk, stream: true})) {
      words.push(part.choices[0]?.delta.content)
      more() // the engine goes on only once the first word is here
    }
    expect(words).toEqual(['one', 'two'])
  })

  test.each(['before the first token', 'between two tokens'])(
    'ends the work at the engine when its reader goes away %s',
    async (when) => {
      let begun: () => void = () => {}
      const isBegun = new Promise<void>((resolve) => (begun = resolve))
      const ended = new Promise<void>((resolve) => {
        answer = (_request, response) => {
          response.once('close', resolve)
          if (when === 'between two tokens')
            response.writeHead(200, {'content-type': 'text/event-stream'}).write(chunk('one'))
          begun()
        }
      })
      const reader = new AbortController()
      const reading = (async () => {
        for await (const _ of await client().chat.completions.create({...talk, stream: true}, {signal: reader.signal}))
          reader.abort()
      })().catch(() => {})
      await isBegun
      if (when === 'before the first token') reader.abort()
      await ended
      await reading
      await expect
        .poll(async () => (await (await server.call('GET', '/flexrack/v1/endpoints/chat')).json()) as unknown)
        .toMatchObject({in_flight: {[target.url]: 0}})
    },
  )

  test('is told of errors in its own words', async () => {
    await expect(client({apiKey: 'wrong'}).models.list()).rejects.toThrow(AuthenticationError)
    const unknown = await client()
      .files.list()
      .then(
        () => undefined,
        (error: unknown) => error,
      )
    expect(unknown).toBeInstanceOf(NotFoundError)
    expect(unknown).toMatchObject({
      type: 'invalid_request_error',
      code: 'not_found',
      message: expect.stringContaining('chat/completions') as string,
    })
    await target.stop()
    await server.activate('chat', [], {protocol: 'openai', health: '/health'})
    await expect(client().chat.completions.create(talk)).rejects.toThrow(InternalServerError)
    expect(asked).toEqual([])
  })

  test('asks once where the engine dies over a request: it may be the cause, and costs are not doubled', async () => {
    answer = (request) => void request.socket.destroy()
    await expect(client().chat.completions.create(talk)).rejects.toMatchObject({status: 502})
    expect(asked).toHaveLength(1)
  })
})

test('an engine is not asked to pack its answers: their tokens are counted, and streams come as they are', async () => {
  let asked: unknown
  answer = (request, response) => {
    asked = request.headers['accept-encoding']
    json({object: 'list', data: [], usage: {}})(request, response, Buffer.alloc(0))
  }
  const headers = {'accept-encoding': 'gzip, br'}
  expect((await server.call('POST', '/endpoints/chat/v1/completions', {body: {}, headers})).status).toBe(200)
  expect(asked).toBeUndefined()
})

describe('what is let through', () => {
  test.each([
    ['POST', '/endpoints/chat/v1/load_lora_adapter'],
    ['GET', '/endpoints/chat/metrics'],
    ['POST', '/endpoints/chat/v1/files'],
    ['DELETE', '/endpoints/chat/v1/models/chat'],
    ['POST', '/endpoints/chat/v2/models/chat/infer'],
    ['POST', '/endpoints/chat/invocations'],
    ['POST', '/endpoints/chat/v1/chat/completions/../../../shutdown'],
    ['POST', '/endpoints/chat/v1%2Fcompletions'],
  ])('%s %s is not', async (method, path) => {
    answer = json({})
    expect((await server.call(method, path, method === 'GET' ? {} : {body: {}})).status).toBeGreaterThanOrEqual(400)
    expect(asked).toEqual([])
  })

  test("health is the engine's own, at its own path", async () => {
    answer = (request, response) => void response.writeHead(request.url === '/health' ? 200 : 404).end()
    expect((await server.call('GET', '/endpoints/chat/health')).status).toBe(200)
    answer = (_request, response) => void response.writeHead(503).end()
    expect((await server.call('GET', '/endpoints/chat/health')).status).toBe(503)
  })

  test("of MLflow's server invocations, ping and version are, with its errors, and the tensors of its model", async () => {
    await server.activate('iris', [target.url], {protocol: 'mlflow', health: '/ping'})
    answer = json({predictions: [1]})
    expect(await (await server.call('POST', '/endpoints/iris/invocations', {body: {inputs: [[1]]}})).json()).toEqual({
      predictions: [1],
    })
    for (const path of ['ping', 'version', 'health'])
      expect((await server.call('GET', `/endpoints/iris/${path}`)).status).toBe(200)
    expect((await server.call('GET', '/endpoints/iris/docs')).status).toBe(404)
    // and tensors of that model, of no other
    for (const path of ['v2/models/iris', 'v2/models/iris/ready', 'v2/health/ready'])
      expect((await server.call('GET', `/endpoints/iris/${path}`)).status).toBe(200)
    expect((await server.call('POST', '/endpoints/iris/v2/models/iris/infer', {body: {inputs: []}})).status).toBe(200)
    expect((await server.call('GET', '/endpoints/iris/v2/models/other')).status).toBe(404)
    expect((await server.call('POST', '/endpoints/iris/v2/repository/index', {body: {}})).status).toBe(404)
    await server.activate('iris', [], {protocol: 'mlflow', health: '/ping'})
    expect(await (await server.call('POST', '/endpoints/iris/invocations', {body: {}})).json()).toMatchObject({
      error_code: 'TEMPORARILY_UNAVAILABLE',
    })
  })
})
