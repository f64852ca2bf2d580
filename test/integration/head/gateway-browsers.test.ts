import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget, type Target} from '../../support/target.ts'

const APP = 'https://app.example'
const CALL = '/endpoints/chat/v1/chat/completions'
let server: TestServer
let target: Target
let asked: (string | undefined)[]

beforeAll(async () => {
  server = await openTestServer()
  // vLLM's and llama.cpp's servers let every page in.
  target = await startTarget('engine', (request, response) => {
    asked.push(request.headers.origin)
    const open = {'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true', vary: 'accept'}
    response.writeHead(200, {'content-type': 'application/json', ...open}).end('{}')
  })
  await put([APP, 'http://localhost:5173'])
})
beforeEach(() => {
  asked = []
})
afterAll(async () => {
  await target.stop()
  await server.close()
})

async function put(cors: unknown): Promise<Response> {
  const before = await server.call('GET', '/flexrack/v1/endpoints/chat')
  const revision = before.ok ? ((await before.json()) as {revision: number}).revision : 0
  const document = {active: {targets: [target.url], protocol: 'openai'}, cors}
  return server.call('PUT', '/flexrack/v1/endpoints/chat', {body: {revision, document}})
}

/** What a browser asks before it sends what a page wants; it has no key yet. */
const preflight = (
  origin: string,
  path = CALL,
  headers = 'authorization,content-type,x-stainless-os',
): Promise<Response> =>
  fetch(server.url + path, {
    method: 'OPTIONS',
    headers: {origin, 'access-control-request-method': 'POST', 'access-control-request-headers': headers},
  })

const corsOf = ({headers}: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))

test('a page of a named origin is told what it may send, with whatever headers its client has', async () => {
  const told = await preflight(APP)
  expect([told.status, await told.text()]).toEqual([204, ''])
  expect(corsOf(told)).toEqual({
    'access-control-allow-origin': APP,
    'access-control-allow-methods': 'GET, HEAD, POST',
    'access-control-allow-headers': 'authorization,content-type,x-stainless-os',
    'access-control-max-age': '600',
    vary: 'origin, access-control-request-headers',
  })
  expect((await preflight('http://localhost:5173')).status).toBe(204)
  expect(asked).toEqual([])
})

test.each([
  ['another origin', 'https://evil.example', CALL],
  ['an origin that begins alike', `${APP}.evil.example`, CALL],
  ['a file', 'null', CALL],
  ['an endpoint without pages', APP, '/endpoints/other/v1/chat/completions'],
  ['what is no endpoint', APP, '/flexrack/v1/endpoints/chat'],
])('%s is told nothing, whether it is there or not', async (_what, origin, path) => {
  const told = await preflight(origin, path)
  expect(told.status).toBe(401)
  expect(corsOf(told)).toEqual({})
})

test('a page needs a key as everybody; what it is answered it may read, also errors, and others may not', async () => {
  const ask = (origin: string, token = server.admin, path = CALL): Promise<Response> =>
    server.call('POST', path, {body: {}, token, headers: {origin}})
  const open = {'access-control-allow-origin': APP, 'access-control-expose-headers': '*'}
  const answered = await ask(APP)
  expect([answered.status, corsOf(answered)]).toEqual([200, {...open, vary: 'accept, origin'}])
  const refused = [await ask(APP, 'wrong'), await ask(APP, server.admin, '/endpoints/chat/v1/files')]
  expect(refused.map((one) => [one.status, corsOf(one)])).toEqual([
    [401, {...open, vary: 'origin'}],
    [404, {...open, vary: 'origin'}],
  ])
  expect(corsOf(await ask('https://evil.example'))).toEqual({vary: 'accept, origin'}) // its engine would say `*`
  // no page: as ever, but whoever keeps answers must not give this one to a page
  const unasked = await server.call('POST', CALL, {body: {}})
  expect([unasked.status, corsOf(unasked)]).toEqual([200, {vary: 'accept, origin'}])
  expect(asked).toHaveLength(3)
})

test('without a list no page may read anything, whatever the engine lets pages do', async () => {
  await server.activate('other', [target.url], {protocol: 'openai'})
  const ask = (headers: Record<string, string>): Promise<Response> =>
    server.call('POST', CALL.replace('chat', 'other'), {body: {}, headers})
  for (const headers of [{origin: APP}, {origin: 'null'}, {}]) {
    const answered = await ask(headers as Record<string, string>)
    expect([answered.status, corsOf(answered)]).toEqual([200, {vary: 'accept'}])
  }
})

test('every page may where the endpoint says so; what are no origins are refused, and nothing is changed', async () => {
  for (const cors of [
    '*',
    ['app.example'],
    [`${APP}/`],
    ['https://*.example'.toUpperCase()],
    [1],
    Array(101).fill(APP),
  ])
    expect((await put(cors)).status).toBe(400)
  expect((await preflight(APP)).status).toBe(204)
  expect((await put(['*'])).status).toBe(200)
  const told = await preflight('null')
  expect(told.headers.get('access-control-allow-origin')).toBe('*')
  await put([APP, 'http://localhost:5173'])
})
