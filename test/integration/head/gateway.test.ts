import {createHash, randomBytes} from 'node:crypto'
import {createServer, type RequestListener} from 'node:http'
import {createServer as createSecureServer} from 'node:https'
import {connect, type AddressInfo} from 'node:net'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget as openTarget, type Answer, type Echo, type Target} from '../../support/target.ts'

let server: TestServer
const closers: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  server = await openTestServer()
})
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
  await server.close()
})

async function startTarget(...given: Parameters<typeof openTarget>): Promise<Target> {
  const target = await openTarget(...given)
  closers.push(() => target.stop().catch(() => {}))
  return target
}

const INFER = '/endpoints/digits/v2/models/digits/infer'
const infer = async (body: unknown = {inputs: []}): Promise<Echo> => {
  const answer = await server.call('POST', INFER, {body})
  expect(answer.status).toBe(200)
  return (await answer.json()) as Echo
}

describe('the gateway', () => {
  test('hands a request on with its path, query and headers, but never with the token', async () => {
    const target = await startTarget('a')
    await server.activate('digits', [target.url])
    const answer = await server.call('POST', `${INFER}?x=1`, {
      body: {inputs: [1]},
      headers: {'x-request-id': '7', cookie: 'a=b'},
    })
    const echo = (await answer.json()) as Echo
    expect(echo).toMatchObject({path: '/v2/models/digits/infer?x=1', size: 14})
    expect(echo.headers).toMatchObject({
      'x-request-id': '7',
      'content-type': 'application/json',
      host: new URL(target.url).host,
    })
    expect(Object.keys(echo.headers)).not.toEqual(expect.arrayContaining(['authorization']))
    expect(echo.headers.cookie).toBeUndefined()
  })

  test('calls JSON what a bare curl calls a form', async () => {
    const target = await startTarget('a')
    await server.activate('digits', [target.url])
    const answer = await server.call('POST', INFER, {
      body: '{}',
      headers: {'content-type': 'application/x-www-form-urlencoded'},
    })
    expect(((await answer.json()) as Echo).headers['content-type']).toBe('application/json')
  })

  test('takes turns, and counts what each target answered', async () => {
    const targets = [await startTarget('a'), await startTarget('b')]
    const urls = targets.map((target) => target.url)
    await server.activate('digits', urls)
    const names = []
    for (let index = 0; index < 6; index++) names.push((await infer()).name)
    expect(names.toSorted()).toEqual(['a', 'a', 'a', 'b', 'b', 'b'])
    expect(await (await server.call('GET', '/flexrack/v1/endpoints/digits')).json()).toMatchObject({
      in_flight: {[urls[0]!]: 0, [urls[1]!]: 0},
      served: {[urls[0]!]: 3, [urls[1]!]: 3},
    })
  })

  test('goes to another target where one takes no connection, and waits for one that is being started', async () => {
    const [gone, there] = [await startTarget('gone'), await startTarget('there')]
    await gone.stop()
    await server.activate('digits', [gone.url, there.url])
    for (let index = 0; index < 4; index++) expect((await infer()).name).toBe('there')
    await server.activate('digits', [gone.url])
    const waiting = infer()
    await startTarget('back', undefined, Number(new URL(gone.url).port))
    expect((await waiting).name).toBe('back')
  })

  test('sends a request once more, to another target, where a model server dies over it; not a third time', async () => {
    let deaths = 0
    const dies: Answer = (request) => (deaths++, request.socket.destroy())
    const [bad, good, worse] = [
      await startTarget('bad', dies),
      await startTarget('good'),
      await startTarget('worse', dies),
    ]
    await server.activate('digits', [bad.url, good.url])
    for (let index = 0; index < 4; index++) expect((await infer()).name).toBe('good')
    expect(deaths).toBeGreaterThan(0)
    await server.activate('digits', [bad.url, worse.url, bad.url.replace('127.0.0.1', 'localhost')])
    deaths = 0
    const answer = await server.call('POST', INFER, {body: {}})
    expect([answer.status, await answer.json()]).toEqual([
      502,
      expect.objectContaining({error: expect.stringContaining('went away in mid-request')}),
    ])
    expect(deaths).toBe(2)
  })

  test('loses no request over a switch: those under way are answered by the old release, later ones by the new', async () => {
    const held: (() => void)[] = []
    const old = await startTarget('old', (_request, response) => void held.push(() => response.end('{"name":"old"}')))
    const fresh = await startTarget('new')
    await server.activate('digits', [old.url])
    const underWay = [infer(), infer(), infer()]
    const inFlight = async (): Promise<Record<string, number>> =>
      (
        (await (await server.call('GET', '/flexrack/v1/endpoints/digits')).json()) as {
          in_flight: Record<string, number>
        }
      ).in_flight
    while ((await inFlight())[old.url] !== 3 || held.length < 3) await new Promise((resolve) => setImmediate(resolve))
    await server.activate('digits', [fresh.url])
    expect((await infer()).name).toBe('new')
    expect(await inFlight()).toEqual({[fresh.url]: 0, [old.url]: 3})
    for (const answer of held) answer()
    expect((await Promise.all(underWay)).map((one) => one.name)).toEqual(['old', 'old', 'old'])
    while (old.url in (await inFlight())) await new Promise((resolve) => setImmediate(resolve))
  })

  test('loses no request while releases are switched and their servers end, under steady load', async () => {
    let current = await startTarget('release 0')
    await server.activate('digits', [current.url])
    let stop = false
    const seen = new Set<string>()
    const load = Promise.all(
      Array.from({length: 8}, async () => {
        let count = 0
        while (!stop) {
          seen.add((await infer()).name)
          count++
        }
        return count
      }),
    )
    for (let release = 1; release <= 5; release++) {
      const next = await startTarget(`release ${release}`)
      await server.activate('digits', [next.url])
      await new Promise<void>(
        (resolve) => (current.server.close(() => resolve()), current.server.closeIdleConnections()),
      )
      while (!seen.has(`release ${release}`)) await new Promise((resolve) => setImmediate(resolve))
      current = next
    }
    stop = true
    expect((await load).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(5)
    expect(seen.size).toBe(6)
  })

  test('streams an answer as it comes', async () => {
    let finish = (): void => {}
    const target = await startTarget('a', (_request, response) => {
      response.writeHead(200, {'content-type': 'text/event-stream'})
      response.write('data: one\n\n')
      finish = () => response.end('data: two\n\n')
    })
    await server.activate('digits', [target.url])
    const answer = await server.call('POST', INFER, {body: {}})
    const reader = answer.body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: one\n\n')
    finish()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: two\n\n')
  })

  test('passes on a large body and the errors of a model server as they are', async () => {
    const target = await startTarget('a', (_request, response, body) =>
      response
        .writeHead(400, {'content-type': 'application/json'})
        .end(JSON.stringify({error: `bad tensor of ${body.length} bytes`})),
    )
    await server.activate('digits', [target.url])
    const answer = await server.call('POST', INFER, {body: `"${'x'.repeat(40 * 1024 * 1024)}"`})
    expect([answer.status, await answer.json()]).toEqual([400, {error: `bad tensor of ${40 * 1024 * 1024 + 2} bytes`}])
  })

  // Here, too, and the socket writes when it can.
  test.each(['plainly', 'with TLS'])(
    'passes a body on that is too large to be kept, %s, to a server that pauses',
    async (how) => {
      const name = '127.0.0.2' // the head's own address is signed for nobody else
      const tensor = randomBytes(20 * 1024 * 1024).toString('hex')
      const hash = createHash('sha256')
      const listener: RequestListener = async (request, response) => {
        let pieces = 0
        for await (const piece of request) {
          hash.update(piece as Buffer)
          if (pieces++ % 64 === 0) await sleep(5)
        }
        response.end()
      }
      const identity = await server.call('POST', '/flexrack/v1/certificates', {body: {names: [name]}})
      const {key, certificate: cert} = (await identity.json()) as {key: string; certificate: string}
      const target = how === 'plainly' ? createServer(listener) : createSecureServer({key, cert}, listener)
      closers.push(() => new Promise((resolve) => (target.close(resolve), target.closeAllConnections())))
      await new Promise<void>((resolve) => target.listen(0, name, resolve))
      const {port} = target.address() as AddressInfo
      await server.activate('digits', [`${how === 'plainly' ? 'http' : 'https'}://${name}:${port}`])
      const answer = await server.call('POST', INFER, {body: tensor})
      expect(answer.status).toBe(200)
      expect(hash.digest('hex')).toBe(createHash('sha256').update(tensor).digest('hex'))
    },
  )

  // Its memory is given back piece by piece while it is under way.
  test.each(['whole', 'in pieces'])(
    'gives a large answer back byte for byte, %s, to a reader that pauses',
    async (how) => {
      const tensor = randomBytes(16 * 1024 * 1024)
      const target = await startTarget('a', (_request, response) => {
        if (how === 'whole') response.setHeader('content-length', tensor.length)
        for (let at = 0; at < tensor.length; at += 3_000_000) response.write(tensor.subarray(at, at + 3_000_000))
        response.end()
      })
      await server.activate('digits', [target.url])
      const hash = createHash('sha256')
      let pieces = 0
      for await (const piece of (await server.call('POST', INFER, {body: {}})).body!) {
        hash.update(piece)
        if (pieces++ % 64 === 0) await sleep(20)
      }
      expect(hash.digest('hex')).toBe(createHash('sha256').update(tensor).digest('hex'))
    },
  )

  test('says plainly that there is no such endpoint, or nothing active behind it', async () => {
    const missing = await server.call('GET', '/endpoints/nothing/v2/health/ready')
    expect([missing.status, await missing.json()]).toEqual([404, {error: 'no endpoint nothing', code: 'NOT_FOUND'}])
    await server.activate('digits', [])
    const idle = await server.call('POST', INFER, {body: {}})
    expect([idle.status, await idle.json()]).toEqual([
      503,
      {error: 'endpoint digits has no active release', code: 'ENDPOINT_FAILED'},
    ])
  })
})

describe('the server', () => {
  test('opens an endpoint to its token only, and nothing else to it', async () => {
    const target = await startTarget('a')
    for (const name of ['digits', 'letters']) await server.activate(name, [target.url])
    const made = await server.call('POST', '/flexrack/v1/tokens', {
      body: {kind: 'endpoint', endpoint: 'digits', ttl_seconds: 60},
    })
    const {token} = (await made.json()) as {token: string}
    const status = async (path: string, method = 'GET'): Promise<number> =>
      (await server.call(method, path, {token})).status
    expect(await status('/endpoints/digits/v2/health/ready')).toBe(200)
    expect(await status('/endpoints/letters/v2/health/ready')).toBe(403)
    expect(await status('/flexrack/v1/endpoints/digits', 'DELETE')).toBe(403)
    expect(await status('/api/2.0/mlflow/experiments/search')).toBe(403)
    expect(
      [await status('/flexrack/v1/tokens/self', 'DELETE'), await status('/flexrack/v1/tokens/self', 'PATCH')],
      'all clients share it',
    ).toEqual([403, 403])
    expect(await status('/endpoints/digits/v2/health/ready')).toBe(200)
  })

  test.each(['/flexrack/v1/status', '/', '/api/2.0/mlflow/runs/get', '/endpoints/digits/v2', '/nothing'])(
    'is closed without a token at %s',
    async (path) => {
      for (const headers of [
        {},
        {authorization: 'Bearer wrong'},
        {authorization: 'Basic YTpi'},
        {cookie: 'flexrack_session=x'},
      ]) {
        expect((await fetch(server.url + path, {headers})).status).toBe(401)
      }
    },
  )

  test('refuses paths that could mean something else further on', async () => {
    for (const path of [
      '/api/2.0/mlflow/logged-models/m-x/../../runs/delete',
      '/api//2.0/mlflow/runs/get',
      '/api/%2e%2e/x',
    ]) {
      const raw = await rawRequest(
        server.url,
        `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer x\r\n\r\n`,
      )
      expect(raw).toMatch(/^HTTP\/1.1 400 /)
    }
  })

  test('says that tracking is not ready instead of letting a call hang', async () => {
    const answer = await server.call('GET', '/api/2.0/mlflow/experiments/get?experiment_id=0')
    expect([answer.status, await answer.json()]).toEqual([
      503,
      {error_code: 'TEMPORARILY_UNAVAILABLE', message: expect.stringContaining('not ready yet')},
    ])
  })

  test('refuses bodies that are too large or not JSON', async () => {
    expect((await server.call('PUT', '/flexrack/v1/locks/x', {body: 'x'.repeat(5 * 1024 * 1024)})).status).toBe(413)
    expect((await server.call('PUT', '/flexrack/v1/locks/x', {body: '{'})).status).toBe(400)
    expect((await server.call('PUT', '/flexrack/v1/locks/x', {body: '[]'})).status).toBe(400)
  })
})

async function rawRequest(url: string, text: string): Promise<string> {
  const {hostname, port} = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.end(text)
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  return answer
}
