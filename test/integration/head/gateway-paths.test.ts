import {connect} from 'node:net'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget, type Target} from '../../support/target.ts'

let server: TestServer
let target: Target
/** What the endpoint's token opens. */
let token: string
/** Requests that came to the model server, and how it answers. */
let seen: string[] = []
let status = 200

beforeAll(async () => {
  server = await openTestServer()
  target = await startTarget('a', (request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.writeHead(status, {'content-type': 'application/json'}).end('{"ready": true}')
  })
  await server.activate('digits', [target.url])
  const made = await server.call('POST', '/flexrack/v1/tokens', {
    body: {kind: 'endpoint', endpoint: 'digits', ttl_seconds: 600},
  })
  token = ((await made.json()) as {token: string}).token
})
afterAll(async () => {
  await server?.close()
  await target?.stop()
})
beforeEach(() => {
  seen = []
  status = 200
})

/** What goes over the wire is exactly this. Gives the status. */
function raw(method: string, path: string): Promise<number> {
  const {hostname, port} = new URL(server.url)
  return new Promise((resolve, reject) => {
    const socket = connect({host: hostname, port: Number(port)})
    socket.once('data', (chunk) => {
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1] ?? 0))
      socket.destroy()
    })
    socket.on('error', reject)
    const body = method === 'POST' ? 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}' : '\r\n'
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: head\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n${body}`,
    )
  })
}

const MODEL = '/endpoints/digits/v2/models/digits'

describe("an endpoint's token", () => {
  test.each([
    ['GET', '/endpoints/digits/v2'],
    ['GET', MODEL],
    ['HEAD', MODEL],
    ['GET', `${MODEL}/ready`],
    ['POST', `${MODEL}/infer`],
    ['POST', `${MODEL}/infer_stream`],
    ['POST', `${MODEL}/generate`],
    ['POST', `${MODEL}/generate_stream`],
    ['GET', `${MODEL}/versions/3`],
    ['GET', `${MODEL}/versions/3/ready`],
    ['POST', `${MODEL}/versions/3/infer`],
    ['POST', `${MODEL}/infer?x=1`],
  ])('opens %s %s', async (method, path) => {
    expect(await raw(method, path)).toBe(200)
    expect(seen).toEqual([`${method} ${path.replace('/endpoints/digits', '')}`])
  })

  test.each([
    ['POST', '/endpoints/digits/v2/repository/models/digits/unload'],
    ['POST', '/endpoints/digits/v2/repository/models/digits/load'],
    ['POST', '/endpoints/digits/v2/repository/index'],
    ['POST', '/endpoints/digits/v2/%72epository/models/digits/unload'],
    ['POST', '/endpoints/digits/v2/repository%2Fmodels%2Fdigits%2Funload'],
    ['POST', '/endpoints/digits/v2%2Frepository/models/digits/unload'],
    ['POST', '/endpoints/digits/v2/models%2F..%2Frepository%2Fmodels/digits/unload'],
    ['POST', `${MODEL}/..%2f..%2frepository/models/digits/unload`],
    ['POST', `${MODEL}/../../repository/models/digits/unload`],
    ['POST', `${MODEL}/%2e%2e/%2e%2e/repository/models/digits/unload`],
    ['POST', `${MODEL}/..;/..;/repository/models/digits/unload`],
    ['POST', '/endpoints/digits/v2//repository/models/digits/unload'],
    ['POST', '/endpoints/digits/v2/Repository/models/digits/unload'],
    ['POST', '/endpoints/digits/V2/repository/models/digits/unload'],
    ['POST', '/endpoints/DIGITS/v2/models/digits/infer'],
    ['POST', '/endpoints/digits/v2\\repository/models/digits/unload'],
    ['POST', '/endpoints/digits/v2/./repository/index'],
    ['POST', '/endpoints/digits/v2/repository/index/'],
    ['POST', '/endpoints/digits/v2/models/letters/infer'],
    ['GET', '/endpoints/digits/v2/models/letters'],
    ['GET', '/endpoints/digits/v2/models/Digits'],
    ['GET', '/endpoints/digits/v2/models'],
    ['POST', '/endpoints/digits/v2'],
    ['GET', '/endpoints/digits/v2/'],
    ['GET', '/endpoints/digits/v2/docs'],
    ['GET', `${MODEL}/docs`],
    ['GET', `${MODEL}/stats`],
    ['POST', `${MODEL}/trace/setting`],
    ['GET', `${MODEL}/`],
    ['POST', MODEL],
    ['GET', `${MODEL}/infer`],
    ['POST', `${MODEL}/ready`],
    ['POST', `${MODEL}/infer/`],
    ['POST', `${MODEL}/INFER`],
    ['POST', `${MODEL}/versions/infer`],
    ['GET', `${MODEL}/versions/..%2F..`],
    ['POST', `${MODEL}/versions/3%2F..%2F..%2Funload/infer`],
    ['DELETE', MODEL],
    ['PUT', `${MODEL}/infer`],
    ['POST', '/endpoints/digits/v2/health/ready'],
    ['GET', '/endpoints/digits/metrics'],
    ['GET', '/endpoints/digits/v2/../../metrics'],
    ['POST', '/endpoints/digits/v2/systemsharedmemory/register'],
  ])('does not open %s %s', async (method, path) => {
    expect(await raw(method, path)).toSatisfy((got: number) => got >= 400 && got < 500)
    expect(seen).toEqual([])
  })
})

describe("an endpoint's health", () => {
  test.each(['live', 'ready'])('%s is what the model says of itself, not the server', async (word) => {
    expect(await (await server.call('GET', `/endpoints/digits/v2/health/${word}`)).json()).toEqual({[word]: true})
    expect(seen).toEqual(['GET /v2/models/digits/ready'])
    for (status of [404, 400, 500, 503, 302]) expect(await raw('GET', `/endpoints/digits/v2/health/${word}`)).toBe(503)
  })

  test('is not that of another server where the model says no', async () => {
    status = 404
    const answer = await server.call('GET', '/endpoints/digits/v2/health/ready', {token})
    expect([answer.status, await answer.json()]).toEqual([
      503,
      {error: 'the model of endpoint digits is not ready (status 404)', code: 'ENDPOINT_FAILED'},
    ])
  })

  test('is told at once where no server takes connections', async () => {
    const gone = await startTarget('gone')
    await gone.stop()
    await server.activate('gone', [gone.url])
    const began = performance.now()
    expect((await server.call('GET', '/endpoints/gone/v2/health/ready')).status).toBe(503)
    expect(performance.now() - began).toBeLessThan(10_000) // a prediction waits for 15 s
  })
})
