import {afterEach, beforeEach, expect, test} from 'vitest'
import type {TrafficCounts} from '../../../src/lib/head/index.ts'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget, type Answer, type Target} from '../../support/target.ts'

let server: TestServer
let target: Target
let answer: Answer

beforeEach(async () => {
  server = await openTestServer()
  target = await startTarget('model', (...given) => answer(...given))
})
afterEach(async () => {
  await target.stop()
  await server.close()
})

async function key(client: string): Promise<string> {
  const body = {kind: 'endpoint', endpoint: 'digits', client, ttl_seconds: 600}
  return ((await (await server.call('POST', '/flexrack/v1/tokens', {body})).json()) as {token: string}).token
}

async function counts(token?: string): Promise<{status: number; at: number; since: number; digits: TrafficCounts}> {
  const asked = await server.call('GET', '/flexrack/v1/traffic', token === undefined ? {} : {token})
  const said = (await asked.json()) as {at: number; since: number; endpoints: TrafficCounts[]}
  return {...said, status: asked.status, digits: said.endpoints?.[0] as TrafficCounts}
}

test('what came by whom is counted by release, client and server, with how many rows it had', async () => {
  await server.activate('digits', [target.url])
  answer = (_request, response) => response.end('{}')
  const [a, b] = [await key('team-a'), await key('team-b')]
  const infer = (token: string, rows: number): Promise<Response> =>
    server.call('POST', '/endpoints/digits/v2/models/digits/infer', {
      token,
      body: {inputs: [{name: 'x', shape: [rows, 4], datatype: 'FP32', data: []}]},
    })
  for (const rows of [1, 8, 6]) expect((await infer(a, rows)).status).toBe(200)
  answer = (_request, response) => {
    response.statusCode = 500
    response.end('{}')
  }
  expect((await infer(b, 8)).status).toBe(500)
  const {at, since, digits} = await counts()
  expect(at).toBeGreaterThan(since)
  expect(digits).toMatchObject({
    name: 'digits',
    queued: 0,
    releases: [{requests: 4, failed: 1, percent: 100, batches: {requests: 3, rows: 15}}],
    clients: [
      {client: 'team-a', requests: 3, failed: 0, limited: 0},
      {client: 'team-b', requests: 1, failed: 1},
    ],
    servers: [{url: target.url, in_flight: 0, served: 4}],
  })
  const ended = digits.clients[0]?.latencies.reduce((sum, [, count]) => sum + count, 0)
  expect(ended).toBe(3)
  const metrics = await (await server.call('GET', '/flexrack/v1/metrics')).text()
  expect(metrics).toContain('release_batch_rows_sum{endpoint="digits",release="active"} 15\n')
  expect(metrics).toContain('request_seconds_count{endpoint="digits",client="team-b"} 1\n')
  expect((await counts(a)).status).toBe(403)
})

test('of streams each client has its own time to the first piece', async () => {
  await server.activate('digits', [target.url], {protocol: 'openai'})
  answer = (_request, response) => {
    response.writeHead(200, {'content-type': 'text/event-stream'})
    response.end('data: {"choices": [{"text": "a"}]}\n\ndata: [DONE]\n\n')
  }
  const token = await key('team-a')
  const body = {model: 'digits', prompt: 'x', stream: true}
  await (await server.call('POST', '/endpoints/digits/v1/completions', {token, body})).text()
  const {digits} = await counts()
  expect(digits.clients).toMatchObject([{client: 'team-a', tokens: {completion: 1}, first: [[expect.any(Number), 1]]}])
  expect(digits.releases).toMatchObject([{tokens: {completion: 1}, first: [[expect.any(Number), 1]]}])
})
