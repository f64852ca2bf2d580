import {afterAll, beforeAll, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget, type Target} from '../../support/target.ts'

let server: TestServer
let target: Target

beforeAll(async () => {
  server = await openTestServer()
  target = await startTarget('r1', (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"outputs": [7], "secret": "x"}')
  })
  const document = {active: {release: 'r1', targets: [target.url]}}
  await server.call('PUT', '/flexrack/v1/endpoints/digits', {body: {revision: 0, document}})
})
afterAll(async () => {
  await target.stop()
  await server.close()
})

const sample = (body: object, token?: string): Promise<Response> =>
  server.call('POST', '/flexrack/v1/endpoints/digits/sample', {body, ...(token !== undefined && {token})})
const infer = (token?: string): Promise<Response> =>
  server.call('POST', '/endpoints/digits/v2/models/digits/infer', {
    body: {inputs: [{name: 'x', data: [1, 2]}], password: 'p'},
    headers: {'x-user': 'ada'},
    ...(token !== undefined && {token}),
  })

test('requests and answers are told to who asks for them meanwhile, redacted, without headers', async () => {
  const taken = sample({requests: 1, seconds: 20, redact: ['inputs.*.data']})
  while (!server.parts.samples.wants('digits')) await new Promise((done) => setTimeout(done, 5))
  // What is only looked at is in no sample.
  expect((await server.call('GET', '/endpoints/digits/v2/models/digits')).status).toBe(200)
  expect((await infer()).status).toBe(200)
  expect(await (await taken).json()).toEqual({
    dropped: 0,
    exchanges: [
      {
        at: expect.any(Number),
        ms: expect.any(Number),
        release: 'r1',
        method: 'POST',
        path: '/v2/models/digits/infer',
        status: 200,
        request: {
          type: 'application/json',
          json: {inputs: [{name: 'x', data: '[list of 2]'}], password: '[secret]'},
        },
        answer: {type: 'application/json', json: {outputs: [7], secret: '[secret]'}},
      },
    ],
  })
})

test('who may only predict takes none, and wrong wishes are refused in words', async () => {
  const issue = {kind: 'endpoint', endpoint: 'digits', client: 'ada', ttl_seconds: 60}
  const {token} = (await (await server.call('POST', '/flexrack/v1/tokens', {body: issue})).json()) as {token: string}
  expect((await infer(token)).status).toBe(200)
  expect((await sample({requests: 1, seconds: 1}, token)).status).toBe(403)
  for (const wrong of [
    {requests: 0, seconds: 1},
    {requests: 1, seconds: 1e9},
    {requests: 1, seconds: 1, redact: 'a'},
  ])
    expect((await sample(wrong)).status).toBe(400)
  expect((await server.call('POST', '/flexrack/v1/endpoints/none/sample', {body: {}})).status).toBe(404)
})
