import {connect} from 'node:net'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'

let server: TestServer
const token: Record<'run' | 'endpoint' | 'revoked' | 'expired', string> = {
  run: '',
  endpoint: '',
  revoked: '',
  expired: '',
}

beforeAll(async () => {
  server = await openTestServer()
  const issue = async (body: object): Promise<{token: string; id: string}> =>
    (await server.call('POST', '/flexrack/v1/tokens', {body})).json() as Promise<{token: string; id: string}>
  token.run = (await issue({kind: 'run', run_id: 'a'.repeat(32), experiment_id: '1', ttl_seconds: 600})).token
  token.endpoint = (await issue({kind: 'endpoint', endpoint: 'digits', ttl_seconds: 600})).token
  token.expired = (await issue({kind: 'run', run_id: 'a'.repeat(32), experiment_id: '1', ttl_seconds: 0.001})).token
  const gone = await issue({kind: 'run', run_id: 'a'.repeat(32), experiment_id: '1', ttl_seconds: 600})
  token.revoked = gone.token
  await server.call('DELETE', `/flexrack/v1/tokens/${gone.id}`)
})
afterAll(() => server?.close())

const ROUTES: [string, string][] = [
  ['GET', '/flexrack/v1/status'],
  ['POST', '/flexrack/v1/tokens'],
  ['DELETE', '/flexrack/v1/tokens/self'],
  ['PATCH', '/flexrack/v1/tokens/self'],
  ['DELETE', '/flexrack/v1/tokens/x'],
  ['GET', '/flexrack/v1/locks'],
  ['PUT', '/flexrack/v1/locks/x'],
  ['DELETE', '/flexrack/v1/locks/x'],
  ['POST', '/flexrack/v1/login-codes'],
  ['PUT', '/flexrack/v1/logins/abcdefgh'],
  ['DELETE', '/flexrack/v1/logins/abcdefgh'],
  ['POST', '/flexrack/v1/login'],
  ['GET', '/flexrack/v1/endpoints'],
  ['GET', '/flexrack/v1/endpoints/x'],
  ['PUT', '/flexrack/v1/endpoints/x'],
  ['DELETE', '/flexrack/v1/endpoints/x'],
  ['GET', '/endpoints/digits/v2'],
  ['POST', '/endpoints/digits/v2/models/digits/infer'],
  ['GET', '/'],
  ['GET', '/version'],
  ['GET', '/api/2.0/mlflow/runs/get?run_id=x'],
  ['POST', '/api/2.0/mlflow/runs/log-batch'],
  ['OPTIONS', '/api/2.0/mlflow/runs/log-batch'],
  ['TRACE', '/flexrack/v1/status'],
]

/**
 * What goes over the wire is exactly this: clients and URL parsers would tidy it up. Gives the status, 0 where the
 * connection is closed without one.
 */
function raw(head: string, authorization?: string): Promise<number> {
  const {hostname, port} = new URL(server.url)
  return new Promise((resolve, reject) => {
    const socket = connect({host: hostname, port: Number(port)})
    let text = ''
    socket.on('data', (chunk) => (text += String(chunk)))
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)))
    socket.on('error', (error: NodeJS.ErrnoException) =>
      ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? undefined : reject(error),
    )
    socket.write(
      `${head}\r\nHost: head\r\n${authorization ? `Authorization: Bearer ${authorization}\r\n` : ''}Connection: close\r\n\r\n`,
    )
  })
}

describe('the server', () => {
  test.each(ROUTES)('refuses %s %s without a good token', async (method, path) => {
    expect(await raw(`${method} ${path} HTTP/1.1`)).toBe(401)
    for (const bad of [
      '',
      'x',
      'admin.x',
      'admin.',
      'run..',
      token.revoked,
      token.expired,
      `${token.run}x`,
      token.run.replace('run.', 'admin.'),
      token.run.replace('run.', 'session.'),
      `${token.run}.x`,
    ]) {
      expect([bad, await raw(`${method} ${path} HTTP/1.1`, bad || undefined)]).toEqual([bad, 401])
    }
  })

  test.each([
    '/%66lexrack/v1/status',
    '/flexrac%6B/v1/status',
    '/flexrack/v%31/status',
    '//flexrack/v1/status',
    '/./flexrack/v1/status',
    '/x/../flexrack/v1/status',
    '/x/%2e%2e/flexrack/v1/status',
    '/x/%2E%2E%2Fflexrack/v1/status',
    '/flexrack/v1/status/',
    '/flexrack//v1/status',
    '/FLEXRACK/v1/status',
    '/flexrack/v1/status#',
    '\\flexrack\\v1\\status',
    '/flexrack\\v1\\status',
    '/flexrack/v1/status;x',
    'http://head/flexrack/v1/status',
    'http:///flexrack/v1/status',
    '*',
    '/%65ndpoints/digits/v2',
    '/endpoints/digits/v2/models/digits',
    '/endpoints/%64igits/v2/models/digits',
    '/flexrack/v1/tokens',
    '/flexrack/v1/endpoints/digits',
    '/flexrack/v1/login-codes',
    '/flexrack/v1/locks',
  ])("is not opened by a run's token at %s, however it is written", async (path) => {
    for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
      expect([method, await raw(`${method} ${path} HTTP/1.1`, token.run)]).toEqual([
        method,
        expect.toSatisfy((status: number) => status >= 400 && status < 500),
      ])
    }
  })

  test("opens one endpoint to that endpoint's token and nothing else", async () => {
    await server.activate('digits', [])
    await server.activate('other', [])
    // there is no target: it came that far
    expect(await raw('GET /endpoints/digits/v2/models/digits HTTP/1.1', token.endpoint)).toBe(503)
    // its own, which has no such call
    for (const path of ['', 'metrics', 'v1/models'])
      expect(await raw(`GET /endpoints/digits/${path} HTTP/1.1`, token.endpoint)).toBe(404)
    for (const path of [
      '/endpoints/other/v2',
      '/endpoints/digits/../other/v2',
      '/endpoints/digits%2F..%2Fother/v2',
      '/endpoints/digits',
      '/',
      '/version',
      '/flexrack/v1/endpoints/digits',
      '/api/2.0/mlflow/runs/get?run_id=x',
    ]) {
      expect([path, await raw(`GET ${path} HTTP/1.1`, token.endpoint)]).toEqual([
        path,
        expect.toSatisfy((status: number) => status === 400 || status === 403),
      ])
    }
  })

  test("lets a run's token end itself sooner, and nobody else's", async () => {
    const own = (await (
      await server.call('POST', '/flexrack/v1/tokens', {
        body: {kind: 'run', run_id: 'b'.repeat(32), experiment_id: '1', ttl_seconds: 600},
      })
    ).json()) as {token: string; expires_at: number}
    const shorten = async (ttl: unknown): Promise<[number, unknown]> => {
      const answer = await fetch(`${server.url}/flexrack/v1/tokens/self`, {
        method: 'PATCH',
        headers: {authorization: `Bearer ${own.token}`},
        body: JSON.stringify({ttl_seconds: ttl}),
      })
      return [answer.status, await answer.json()]
    }
    expect(await shorten(1e6)).toEqual([200, {expires_at: own.expires_at}])
    expect((await shorten(0))[0]).toBe(400)
    expect((await shorten(0.001))[0]).toBe(200)
    await expect.poll(async () => (await shorten(60))[0]).toBe(401)
    expect(await raw('GET / HTTP/1.1', token.run)).toBe(503) // another run's: it came that far
  })

  test('treats an upgrade as the request it is, and ends headers and bodies that are too large', async () => {
    expect(await raw('GET /flexrack/v1/status HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket')).toBe(401)
    expect(await raw('CONNECT 127.0.0.1:22 HTTP/1.1', token.run)).toBe(0)
    expect(await raw(`GET /flexrack/v1/status HTTP/1.1\r\nX: ${'x'.repeat(70_000)}`)).toBe(431)
    expect(await raw(`GET /${'x'.repeat(70_000)} HTTP/1.1`, token.run)).toBe(431)
    const large = await server
      .call('PUT', '/flexrack/v1/locks/x', {body: JSON.stringify({owner: 'x'.repeat(5 * 1024 * 1024)})})
      .then(
        (answer) => answer.status,
        () => 413,
      )
    expect(large).toBe(413)
  })

  test('a login link works once, and its cookie is out of reach of scripts and other pages', async () => {
    const {path} = (await (await server.call('POST', '/flexrack/v1/login-codes', {body: {}})).json()) as {path: string}
    const visit = (): Promise<Response> => fetch(server.url + path, {redirect: 'manual'})
    const first = await visit()
    expect(first.status).toBe(200)
    const cookie = first.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/)
    expect((await visit()).status).toBe(403)
    const session = {cookie: cookie.split(';')[0] as string}
    const as = (method: string, where: string, headers: Record<string, string> = {}): Promise<number> =>
      fetch(server.url + where, {method, headers: {...session, ...headers}}).then((answer) => answer.status)
    expect(await as('GET', '/')).toBe(503) // MLflow is not there: it came that far
    expect(await as('POST', '/api/2.0/mlflow/runs/delete', {origin: 'http://127.0.0.1:1'})).toBe(403)
    expect(await as('POST', '/api/2.0/mlflow/runs/delete', {origin: 'null'})).toBe(403)
    expect(await as('GET', '/flexrack/v1/status')).toBe(403)
    expect(await as('POST', '/flexrack/v1/tokens')).toBe(403)
    expect(await as('GET', '/%66lexrack/v1/status')).toBe(400)
    expect(await as('GET', '/endpoints/digits/v2')).toBe(403)
  })
})

test('certificates are for servers of the rack, never for what the head is called, however that is spelt', async () => {
  const ask = async (...names: string[]): Promise<number> =>
    (await server.call('POST', '/flexrack/v1/certificates', {body: {names}})).status
  for (const name of [
    'flexrack-head',
    'FLEXRACK-HEAD',
    'flexrack-head.',
    'localhost',
    '127.0.0.1',
    '::1',
    '0:0:0:0:0:0:0:1',
    '*',
    '*.x',
    '',
    'a b',
  ])
    expect([name, await ask(name)]).toEqual([name, 400])
  expect(await ask('10.1.2.3', '127.0.0.1')).toBe(400)
  expect(await ask()).toBe(400)
  expect(await ask('10.1.2.3')).toBe(200)
  for (const kind of ['run', 'endpoint'] as const)
    expect(
      (await server.call('POST', '/flexrack/v1/certificates', {body: {names: ['10.1.2.3']}, token: token[kind]}))
        .status,
    ).toBe(403)
})
