import {connect, type Socket} from 'node:net'
import {setTimeout as pause} from 'node:timers/promises'
import {afterEach, describe, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startHeadProcess} from '../../support/head-process.ts'
import {startTarget, type Target} from '../../support/target.ts'

const MIB = 1024 ** 2
const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function openServer(limits: Parameters<typeof openTestServer>[0]): Promise<TestServer> {
  const server = await openTestServer(limits)
  closers.push(() => server.close())
  return server
}

async function target(): Promise<Target> {
  const made = await startTarget('a')
  closers.push(() => made.stop().catch(() => {}))
  return made
}

async function endpointToken(server: TestServer): Promise<string> {
  const made = await server.call('POST', '/flexrack/v1/tokens', {
    body: {kind: 'endpoint', endpoint: 'digits', ttl_seconds: 600},
  })
  return ((await made.json()) as {token: string}).token
}

const PATH = '/endpoints/digits/v2/models/digits/infer'

/** A request whose body is announced with `size` bytes, or in chunks without one, and of which `sent` bytes come. */
function begin(url: string, token: string, sent: number, size?: number): {socket: Socket; answer: Promise<string>} {
  const socket = connect({host: '127.0.0.1', port: Number(new URL(url).port)})
  closers.push(() => socket.destroy())
  const answer = new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
      if (text.includes('\r\n\r\n')) resolve(text)
    })
    socket.on('close', () => resolve(text))
    socket.on('error', () => {})
  })
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: head\r\nAuthorization: Bearer ${token}\r\n${size === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`}\r\n\r\n`,
  )
  socket.write(size === undefined ? `${sent.toString(16)}\r\n${'x'.repeat(sent)}\r\n` : 'x'.repeat(sent))
  return {socket, answer}
}

describe("the head's memory", () => {
  test('stays bounded under 60 requests of 30 MB that never end, and others are answered', async () => {
    const head = await startHeadProcess()
    closers.push(() => head.stop())
    await head.call('PUT', '/flexrack/v1/endpoints/digits', {
      revision: 0,
      document: {active: {targets: ['http://127.0.0.1:9']}},
    })
    const before = await head.memory()
    const all = Array.from({length: 60}, () => begin(head.url, head.token, 30 * MIB - 10, 30 * MIB))
    const answered: string[] = []
    for (const one of all) void one.answer.then((text) => answered.push(text))
    let most = 0
    while (answered.length < 60 - 256 / 29) {
      most = Math.max(most, await head.memory())
      await pause(50)
    }
    expect(most - before).toBeLessThan(600 * MIB) // 1.8 GB had come
    expect(answered.every((text) => /^HTTP\/1\.1 503 [^]*retry-after: 2\r\n/.test(text))).toBe(true)
    expect((await head.call('GET', '/flexrack/v1/status')).status).toBe(200)
  })
})

describe('the budget for bodies', () => {
  const limits = {buffers: 8 * MIB, streams: 64 * MIB}

  test('is given back with the answer, with the connection, and with a refusal', async () => {
    const server = await openServer(limits)
    await server.activate('digits', [(await target()).url])
    const unfinished = begin(server.url, await endpointToken(server), 3 * MIB, 4 * MIB)
    await expect.poll(() => server.limits.buffers.used).toBe(3 * MIB)
    expect((await server.call('POST', PATH, {body: 'x'.repeat(4 * MIB)})).status).toBe(200)
    const refused = await server.call('POST', PATH, {body: 'x'.repeat(6 * MIB)})
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])
    await expect.poll(() => server.limits.buffers.used).toBe(3 * MIB)
    unfinished.socket.destroy()
    await expect.poll(() => server.limits.buffers.used).toBe(0)
    expect((await server.call('POST', PATH, {body: 'x'.repeat(6 * MIB)})).status).toBe(200)
    await expect.poll(() => server.limits.buffers.used).toBe(0)
  })

  test("is not one token's alone", async () => {
    const server = await openServer(limits)
    await server.activate('digits', [(await target()).url])
    const token = await endpointToken(server)
    const chunked = begin(server.url, token, 3 * MIB)
    await expect.poll(() => server.limits.buffers.used).toBe(3 * MIB)
    expect(await begin(server.url, token, 2 * MIB, 2 * MIB).answer).toMatch(/^HTTP\/1\.1 429 /)
    expect((await server.call('POST', PATH, {body: 'x'.repeat(4 * MIB)})).status).toBe(200)
    chunked.socket.write('0\r\n\r\n')
    expect(await chunked.answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('has another for what is passed on, in which the oldest goes on', async () => {
    const server = await openServer({buffers: 8 * MIB, streams: 40 * MIB})
    await server.activate('digits', [(await target()).url])
    const admin = server.admin
    const oldest = begin(server.url, admin, 36 * MIB, 48 * MIB)
    await expect.poll(() => server.limits.streams.used).toBe(36 * MIB)
    expect(await begin(server.url, admin, 33 * MIB, 33 * MIB).answer).toMatch(/^HTTP\/1\.1 503 /)
    await expect.poll(() => server.limits.streams.used).toBe(36 * MIB)
    oldest.socket.write('x'.repeat(12 * MIB))
    expect(await oldest.answer).toMatch(/^HTTP\/1\.1 200 /)
    await expect.poll(() => server.limits.streams.used).toBe(0)
  })
})

test.each([
  ['kept', 4 * MIB],
  ['passed on', 40 * MIB],
])('a body that is %s and comes too slowly is ended', async (_how, size) => {
  const server = await openServer({pace: {everyMs: 300, bytes: 1024}})
  await server.activate('digits', [(await target()).url])
  const slow = begin(server.url, await endpointToken(server), 10, size)
  const drip = setInterval(() => slow.socket.write('x'), 20)
  try {
    expect(await slow.answer).toMatch(/^HTTP\/1\.1 408 [^]*comes too slowly/)
  } finally {
    clearInterval(drip)
  }
  await expect.poll(() => server.limits.buffers.used + server.limits.streams.used).toBe(0)
})

test('a model server that takes its time is not the fault of who waits for it', async () => {
  const server = await openServer({pace: {everyMs: 100, bytes: 1024}})
  const slow = await startTarget('slow', (_request, response) => void setTimeout(() => response.end('{}'), 1000))
  closers.push(() => slow.stop().catch(() => {}))
  await server.activate('digits', [slow.url])
  for (const size of [1 * MIB, 33 * MIB])
    expect((await server.call('POST', PATH, {body: 'x'.repeat(size)})).status).toBe(200)
})
