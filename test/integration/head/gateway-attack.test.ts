import {once} from 'node:events'
import {connect, createServer, type AddressInfo, type Socket} from 'node:net'
import {setTimeout as pause} from 'node:timers/promises'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget as openTarget, type Target} from '../../support/target.ts'

let server: TestServer
const closers: (() => unknown)[] = []

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
const infer = (headers: Record<string, string> = {}, token?: string): Promise<Response> =>
  server.call('POST', INFER, {body: {}, headers, ...(token !== undefined && {token})})
const demand = (): {inFlight: number; queued: number} => server.parts.queues.demand('digits')

async function put(document: object): Promise<void> {
  const revision = server.parts.endpoints.find('digits')?.revision ?? 0
  const answer = await server.call('PUT', '/flexrack/v1/endpoints/digits', {body: {revision, document}})
  expect(answer.status).toBe(200)
}

async function keyOf(client: string): Promise<string> {
  const body = {kind: 'endpoint', endpoint: 'digits', client, ttl_seconds: 60}
  return ((await (await server.call('POST', '/flexrack/v1/tokens', {body})).json()) as {token: string}).token
}

/** A server that says these bytes to every request, and closes or stays. */
async function startRaw(say: (socket: Socket) => void): Promise<string> {
  const raw = createServer((socket) => {
    closers.push(() => socket.destroy())
    socket.on('error', () => {}).on('data', () => say(socket))
  })
  closers.push(() => raw.close())
  await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(raw.address() as AddressInfo).port}`
}

/** A caller that sends a request, and reads nothing. */
function sendOnly(headers: string[] = []): Socket {
  const {hostname, port} = new URL(server.url)
  const socket = connect(Number(port), hostname)
  closers.push(() => socket.destroy())
  const lines = [
    `POST ${INFER} HTTP/1.1`,
    'host: x',
    `authorization: Bearer ${server.admin}`,
    'content-length: 2',
    ...headers,
  ]
  socket.on('error', () => {}).write(`${lines.join('\r\n')}\r\n\r\n{}`)
  return socket
}

describe('callers that', () => {
  test('read nothing do not hold up others, and the head keeps little of their answers', async () => {
    const large = Buffer.alloc(8 * 1024 * 1024, 'x')
    const target = await startTarget('a', (incoming, response) =>
      response.end(incoming.headers['x-large'] === undefined ? '{}' : large),
    )
    await put({active: {targets: [target.url]}, queue: {concurrency: 200}})
    const before = process.memoryUsage().arrayBuffers
    const readers = process.env.FLEXRACK_LONG ? 100 : 20
    for (let index = 0; index < readers; index++) sendOnly(['x-large: 1']).pause()
    while (demand().inFlight < readers) await pause(5)
    const answers = await Promise.all(Array.from({length: 20}, () => infer()))
    expect(new Set(answers.map(({status}) => status))).toEqual(new Set([200]))
    expect(demand().inFlight).toBe(readers)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(readers * 3 * 1024 * 1024)
  })

  test('wait and leave, again and again, leave nothing behind, and take no turn from who stays', async () => {
    let asked = 0
    let finish = (): void => {}
    const target = await startTarget('a', (_incoming, response) => {
      asked++
      finish = () => response.end('{}')
    })
    await put({active: {targets: [target.url]}, queue: {concurrency: 1, requests: 50}})
    const first = infer()
    while (asked < 1) await pause(2)
    const stays = infer()
    while (demand().queued < 1) await pause(2)
    for (let round = 0; round < 5; round++) {
      const crowd = Array.from({length: 40}, () => sendOnly())
      while (demand().queued < 41) await pause(2)
      for (const socket of crowd) socket.destroy()
      while (demand().queued > 1) await pause(2)
    }
    finish()
    expect((await first).status).toBe(200)
    while (asked < 2) await pause(2)
    finish()
    expect((await stays).status).toBe(200)
    expect(demand()).toEqual({inFlight: 0, queued: 0})
  })

  test('send more headers than anybody needs are refused, and the head goes on', async () => {
    const target = await startTarget('a')
    await put({active: {targets: [target.url]}})
    const many = sendOnly(Array.from({length: 5000}, (_, index) => `x-${index}: 1`))
    const [answer] = (await once(many, 'data')) as [Buffer]
    expect(String(answer)).toMatch(/^HTTP\/1.1 431 /)
    expect((await infer()).status).toBe(200)
  })

  test('flood an endpoint do not keep another client waiting for more than one turn', async () => {
    let underWay = 0
    const order: string[] = []
    const held: (() => void)[] = []
    const target = await startTarget('a', (incoming, response) => {
      underWay++
      order.push(String(incoming.headers['x-name']))
      held.push(() => (underWay--, response.end('{}')))
    })
    await put({active: {targets: [target.url]}, queue: {concurrency: 2, requests: 100}})
    const [flood, quiet] = [await keyOf('flood'), await keyOf('quiet')]
    const flooded = Array.from({length: 150}, () => infer({'x-name': 'flood'}, flood))
    const entered = (): number => demand().queued + server.parts.queues.figures('digits').refused.full
    while (entered() < 148 || held.length < 2) await pause(5)
    for (let round = 0; round < 5; round++) {
      const before = entered()
      const asked = infer({'x-name': 'quiet'}, quiet)
      while (entered() === before) await pause(2)
      const seen = order.length
      held.shift()!()
      while (order.length === seen) await pause(2)
      expect(order.at(-1)).toBe('quiet')
      while (held.length < 2) await pause(2)
      held.pop()!()
      expect((await asked).status).toBe(200)
    }
    const timer = setInterval(() => held.splice(0).forEach((answer) => answer()), 1)
    const statuses = (await Promise.all(flooded)).map(({status}) => status)
    clearInterval(timer)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(underWay).toBe(0)
  })
})

describe('a model server that', () => {
  test.each([
    ['answers what is no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['answers with a header that is none', 'HTTP/1.1 200 OK\r\nx: a\u0000b\r\ncontent-length: 2\r\n\r\n{}'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
    ['has a length and pieces', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}'],
    ['answers an endless head', `HTTP/1.1 200 OK\r\n${'x-a: bbbbbbbbbbbbbbbbbbbb\r\n'.repeat(10_000)}`],
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ])('%s is 502, and others are answered', async (_what, bytes) => {
    const url = await startRaw((socket) => socket.write(bytes))
    await put({active: {targets: [url]}})
    const answer = await infer()
    expect([answer.status, await answer.json()]).toEqual([
      502,
      {error: expect.stringContaining('the model server of endpoint digits'), code: 'ENDPOINT_FAILED'},
    ])
    expect(demand()).toEqual({inFlight: 0, queued: 0})
    await put({active: {targets: [(await startTarget('good')).url]}})
    expect((await infer()).status).toBe(200)
  })

  test.each([
    ['by length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half'],
    ['in pieces', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n{"half\r\n'],
  ])('answers half (%s) breaks its caller off, and is not asked again', async (_how, bytes) => {
    let asked = 0
    const url = await startRaw((socket) => (asked++, socket.end(bytes)))
    await put({active: {targets: [url]}})
    const answer = await infer()
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow('terminated')
    expect(asked).toBe(1)
    const {figures} = (await (await server.call('GET', '/flexrack/v1/endpoints/digits')).json()) as {figures: object}
    expect(figures).toMatchObject({active: {requests: 1, failed: 1}})
    expect(demand()).toEqual({inFlight: 0, queued: 0})
  })

  test('takes requests and never answers holds what it may have; who waits is told, and callers get away', async () => {
    const url = await startRaw(() => {})
    await put({active: {targets: [url]}, queue: {concurrency: 3, requests: 5, seconds: 0.5}})
    const stuck = Array.from({length: 3}, () => sendOnly())
    while (demand().inFlight < 3) await pause(2)
    const statuses = (await Promise.all(Array.from({length: 8}, () => infer()))).map(({status}) => status)
    expect(statuses.toSorted()).toEqual([429, 429, 429, 504, 504, 504, 504, 504])
    for (const socket of stuck) socket.destroy()
    while (demand().inFlight > 0) await pause(2)
  })
})
