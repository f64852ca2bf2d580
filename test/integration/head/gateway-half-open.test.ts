import type {ServerResponse} from 'node:http'
import {connect, type AddressInfo, type Socket} from 'node:net'
import {connect as connectSecurely} from 'node:tls'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {buildServer} from '../../../src/lib/head/service/server.ts'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget, type Target} from '../../support/target.ts'

let server: TestServer
let target: Target
let secure: Awaited<ReturnType<typeof buildServer>>['app']
/** Called with what the engine is asked. */
let asked: (response: ServerResponse) => void

beforeAll(async () => {
  server = await openTestServer()
  target = await startTarget('engine', (_request, response) => asked(response))
  await server.activate('chat', [target.url], {protocol: 'openai'})
  const {authority} = server.parts
  const identity = await authority.leaf('listener', {name: 'flexrack head', names: ['127.0.0.1'], usage: 'server'})
  secure = (await buildServer(server.parts, identity)).app
  await secure.listen({host: '127.0.0.1', port: 0})
})
afterAll(async () => {
  await secure.close()
  await target.stop()
  await server.close()
})

const dial = {
  plain: () => connect(Number(new URL(server.url).port), '127.0.0.1'),
  TLS: () =>
    connectSecurely((secure.server.address() as AddressInfo).port, '127.0.0.1', {
      ca: server.parts.authority.trusted,
      ...{allowHalfOpen: true}, // its types do not know it
    }),
}
const post = (version: string, path = '/endpoints/chat/v1/completions'): string =>
  `POST ${path} HTTP/${version}\r\nhost: x\r\nauthorization: Bearer ${server.admin}\r\ncontent-length: 2\r\n\r\n{}`

/** What comes until the other side ends, or until `words` have come. */
function read(socket: Socket, words?: string): Promise<string> {
  return new Promise((resolve) => {
    let got = ''
    socket.on('data', (chunk: Buffer) => {
      got += String(chunk)
      if (words !== undefined && got.includes(words)) resolve(got)
    })
    socket.once('end', () => resolve(got)).once('error', (error) => resolve(`${got}${error.message}`))
  })
}

describe.each(['plain', 'TLS'] as const)('over a connection that is %s', (kind) => {
  test('a client that ends its side once it has asked is answered', async () => {
    const isAsked = new Promise<ServerResponse>((resolve) => (asked = resolve))
    const socket = dial[kind]()
    const [continued, all] = [read(socket, '100 Continue'), read(socket)]
    socket.end(post('1.1'))
    const response = await isAsked
    await continued // so its end has come
    response.setHeader('content-type', 'text/event-stream')
    response.write('data: one\n\n')
    response.end('data: two\n\n')
    expect(await all).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n[^]*data: one[^]*data: two/)
  })

  test('a client of HTTP/1.0 is told nothing before its answer', async () => {
    asked = (response) => void setTimeout(() => response.end('{}'), 300)
    const socket = dial[kind]()
    const all = read(socket)
    socket.end(post('1.0'))
    expect(await all).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\n\r\n\{\}$/)
  })

  test('the work for one that has closed both sides ends', async () => {
    const ended = new Promise<boolean>((resolve) => {
      asked = (response) => {
        response.once('close', () => resolve(response.writableFinished))
        socket.destroy()
      }
    })
    const socket = dial[kind]().on('error', () => {})
    socket.write(post('1.1'))
    expect(await ended).toBe(false)
  }, 30_000)

  test('a connection that ended without a request, or within one, ends', async () => {
    for (const text of ['', post('1.1').slice(0, -1)]) {
      const socket = dial[kind]()
      const all = read(socket)
      socket.end(text)
      expect(await all).not.toContain('200')
    }
  })
})
