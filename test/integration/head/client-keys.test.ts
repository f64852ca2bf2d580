import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import OpenAI, {RateLimitError} from 'openai'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import type {ServingProtocol} from '../../../src/lib/protocol/index.ts'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget, type Answer, type Target} from '../../support/target.ts'

let server: TestServer
let target: Target
let answer: Answer
/** Requests that came to the model server. */
let asked = 0

beforeEach(async () => {
  asked = 0
  answer = (_request, response) => response.end('{}')
  server = await openTestServer()
  target = await startTarget('model', (...given) => (asked++, answer(...given)))
  await server.activate('digits', [target.url])
})
afterEach(async () => {
  await target.stop()
  await server.close()
})

interface Made {
  id: string
  token: string
}
const ask = (client: string, limits: object = {}, endpoint = 'digits'): Promise<Response> =>
  server.call('POST', '/flexrack/v1/tokens', {
    body: {kind: 'endpoint', endpoint, client, ttl_seconds: 600, ...limits},
  })
const key = async (...given: Parameters<typeof ask>): Promise<Made> => {
  const made = await ask(...given)
  expect(made.status).toBe(200)
  return (await made.json()) as Made
}
const PATHS: Record<ServingProtocol, string> = {
  v2: '/endpoints/digits/v2/models/digits/infer',
  openai: '/endpoints/digits/v1/completions',
  mlflow: '/endpoints/digits/invocations',
}
const infer = (token: string, protocol: ServingProtocol = 'v2'): Promise<Response> =>
  server.call('POST', PATHS[protocol], {token, body: {}})
const revoke = (client: string): Promise<Response> =>
  server.call('DELETE', `/flexrack/v1/endpoints/digits/keys/${client}`)
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

describe('a key of a client', () => {
  test('opens its endpoint, is kept as a hash, and is one a client', async () => {
    const {token} = await key('team-a', {requests_per_second: 100})
    expect((await infer(token)).status).toBe(200)
    expect(await readFile(join(server.folder, 'tokens.json'), 'utf8')).not.toContain(token.split('.')[2])
    expect((await ask('team-a')).status).toBe(409)
    await server.activate('letters', [target.url])
    expect((await server.call('GET', '/endpoints/letters/v2', {token})).status).toBe(403)
    for (const path of ['/flexrack/v1/metrics', '/flexrack/v1/endpoints/digits/keys'])
      expect((await server.call('GET', path, {token})).status).toBe(403)
  })

  test('is not made of names that are none, limits that are none, or for ever', async () => {
    for (const [client, limits] of [
      ['a"b', {}],
      ['../x', {}],
      ['a', {requests_per_second: 0}],
      ['a', {tokens_per_minute: 0}],
      ['a', {tokens_per_minute: '9'}],
      ['a', {concurrency: '3'}],
      ['a', {concurrency: 1.5}],
      ['a', {ttl_seconds: 400 * 86_400}],
    ] as const)
      expect([client, limits, (await ask(client, limits)).status]).toEqual([client, limits, 400])
  })

  test.each<[ServingProtocol, unknown]>([
    ['v2', {error: expect.stringContaining('requests a second'), code: 'REFUSED'}],
    ['openai', {error: {message: expect.any(String), type: 'requests', param: null, code: 'rate_limit_exceeded'}}],
    ['mlflow', {error_code: 'REQUEST_LIMIT_EXCEEDED', message: expect.any(String)}],
  ])('over its rate is told when to come again, in the words of %s', async (protocol, body) => {
    await server.activate('digits', [target.url], {protocol})
    const {token} = await key('team-a', {requests_per_second: 0.001})
    expect((await infer(token, protocol)).status).toBe(200)
    const refused = await infer(token, protocol)
    expect([refused.status, await refused.json()]).toEqual([429, body])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(900)
    expect(asked).toBe(1)
    expect((await infer(server.admin, protocol)).status).toBe(200)
  })

  test("is understood by OpenAI's client, which tells a limit from an error", async () => {
    await server.activate('digits', [target.url], {protocol: 'openai'})
    const {token} = await key('team-a', {requests_per_second: 0.001})
    await infer(token, 'openai')
    const client = new OpenAI({baseURL: `${server.url}/endpoints/digits/v1`, apiKey: token, maxRetries: 0})
    await expect(client.completions.create({model: 'digits', prompt: 'x'})).rejects.toThrow(RateLimitError)
  })

  test("uses so many tokens of OpenAI's API, of streams and of those that were left, too", async () => {
    await server.activate('digits', [target.url], {protocol: 'openai'})
    const {token} = await key('team-a', {tokens_per_minute: 30})
    const client = new OpenAI({baseURL: `${server.url}/endpoints/digits/v1`, apiKey: token, maxRetries: 0})
    answer = (_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end('{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 13, "total_tokens": 20}}')
    }
    await client.completions.create({model: 'digits', prompt: 'x'})
    answer = (_request, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'})
      response.write('data: {"choices": [{"text": "a"}]}\n\n'.repeat(11))
    }
    for await (const _ of await client.completions.create({model: 'digits', prompt: 'x', stream: true})) break
    await until(() => server.parts.clients.counts('digits', 'team-a').inFlight === 0)
    const refused = await client.completions.create({model: 'digits', prompt: 'x'}).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RateLimitError)
    expect((refused as RateLimitError).message).toContain('30 tokens a minute')
    // One over, of 30 a minute: 4 s, less what the test itself took.
    expect(['1', '2', '3', '4']).toContain((refused as RateLimitError).headers.get('retry-after'))
    const {keys} = (await (await server.call('GET', '/flexrack/v1/endpoints/digits/keys')).json()) as {keys: object[]}
    expect(keys).toMatchObject([{client: 'team-a', tokens_per_minute: 30, tokens: 31, refused: 1}])
    const metrics = await (await server.call('GET', '/flexrack/v1/metrics')).text()
    expect(metrics).toContain('client_tokens_total{endpoint="digits",client="team-a",part="completion"} 24')
    expect(metrics).toMatch(/release_first_token_seconds_count\{endpoint="digits",release="[^"]+"\} 1/)
  })

  test('has as many requests under way as it may, and gets the place of one that ended', async () => {
    const held: (() => void)[] = []
    answer = (_request, response) => void held.push(() => response.end('{}'))
    const [mine, other] = [await key('team-a', {concurrency: 2}), await key('team-b')]
    const under = [infer(mine.token), infer(mine.token)]
    await until(() => held.length === 2)
    const refused = await infer(mine.token)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    under.push(infer(other.token))
    await until(() => held.length === 3)
    held[0]!()
    expect((await Promise.race(under)).status).toBe(200)
    await expect
      .poll(async () => {
        const more = infer(mine.token)
        const first = await Promise.race([more, until(() => held.length === 4).then(() => undefined)])
        return first?.status
      })
      .toBeUndefined()
    for (const end of held) end()
    await Promise.all(under)
  })
})

describe('a revoked key', () => {
  test('opens nothing at once, ends a stream, and answers what has no answer yet', async () => {
    const ended: string[] = []
    answer = (request, response) => {
      response.once('close', () => ended.push(request.url!))
      if (request.url!.endsWith('stream')) response.writeHead(200).write('data: 1\n\n')
    }
    const {token} = await key('team-a')
    const stream = await server.call('POST', `${PATHS.v2}_stream`, {token, body: {}})
    const reader = stream.body!.getReader()
    await reader.read()
    const waiting = infer(token)
    await until(() => asked === 2)
    expect((await revoke('team-a')).status).toBe(200)
    await expect(reader.read()).rejects.toThrow()
    expect((await waiting).status).toBe(401)
    expect((await infer(token)).status).toBe(401)
    await until(() => ended.length === 2) // the model server is left alone, too
    expect((await revoke('team-a')).status).toBe(404)
    expect((await key('team-a')).token).not.toBe(token)
  })

  test('is not sent on by a request that waited for a server', async () => {
    await target.stop()
    const {token} = await key('team-a')
    const waiting = infer(token)
    const inFlight = async (): Promise<number> => (await shown())[0]!.in_flight
    while ((await inFlight()) !== 1) await new Promise((resolve) => setImmediate(resolve))
    await revoke('team-a')
    expect((await waiting).status).toBe(401)
    const back = await startTarget('back', () => asked++, Number(new URL(target.url).port))
    await new Promise((resolve) => setTimeout(resolve, 500)) // longer than the pause between two tries so early
    await back.stop()
    expect(asked).toBe(0)
  })

  test('is one whose time is over, with what is under way', async () => {
    answer = (_request, response) => void response.writeHead(200).write('data: 1\n\n')
    const {token} = await key('team-a', {ttl_seconds: 1})
    const stream = await infer(token)
    await expect(stream.text()).rejects.toThrow()
    expect((await infer(token)).status).toBe(401)
  })

  test('is every one of an endpoint that was removed', async () => {
    const {token} = await key('team-a')
    expect((await server.call('DELETE', '/flexrack/v1/endpoints/digits')).status).toBe(200)
    await server.activate('digits', [target.url])
    expect((await infer(token)).status).toBe(401)
  })
})

interface Shown {
  client: string
  in_flight: number
  requests: number
  refused: number
}
async function shown(): Promise<Shown[]> {
  const answered = await server.call('GET', '/flexrack/v1/endpoints/digits/keys')
  return ((await answered.json()) as {keys: Shown[]}).keys
}

test('clients are told apart in the list of keys and in the metrics', async () => {
  const {token} = await key('team-a', {requests_per_second: 0.001})
  await key('team-b')
  for (let index = 0; index < 3; index++) await (await infer(token)).text()
  await (await infer(server.admin)).text()
  await expect
    .poll(shown)
    .toEqual([
      expect.objectContaining({client: 'team-a', requests: 3, refused: 2, in_flight: 0}),
      expect.objectContaining({client: 'team-b', requests: 0, refused: 0}),
    ])
  const text = await (await server.call('GET', '/flexrack/v1/metrics')).text()
  expect(text).toContain('flexrack_gateway_requests_total{endpoint="digits",client="team-a",code="200"} 1\n')
  expect(text).toContain('flexrack_gateway_requests_total{endpoint="digits",client="team-a",code="429"} 2\n')
  expect(text).toContain('flexrack_gateway_refused_total{endpoint="digits",client="team-a",limit="rate"} 2\n')
  expect(text).toContain('flexrack_gateway_requests_total{endpoint="digits",client="",code="200"} 1\n')
  expect(text).not.toContain(token)
})
