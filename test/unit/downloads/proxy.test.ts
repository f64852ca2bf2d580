import {once} from 'node:events'
import {createServer as createHttp, type IncomingMessage, type Server as HttpServer} from 'node:http'
import {connect, createServer, type AddressInfo, type Server, type Socket} from 'node:net'
import type {Duplex} from 'node:stream'
import {text} from 'node:stream/consumers'
import {afterEach, expect, test} from 'vitest'
import {NamedHosts} from '../../../src/lib/downloads/named-hosts.ts'
import {DownloadProxy} from '../../../src/lib/downloads/proxy.ts'

const SECRET = 's3cret'
const PROOF = `Proxy-Authorization: Basic ${Buffer.from(`flexrack:${SECRET}`).toString('base64')}\r\n`
const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one()
})

async function listen<S extends Server | HttpServer>(server: S): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  undo.push(
    () =>
      new Promise(
        (resolve) => (server.close(resolve), 'closeAllConnections' in server && server.closeAllConnections()),
      ),
  )
  return (server.address() as AddressInfo).port
}

/** A proxy, and who connects to it; its connections come from a listener, as they do from SSH. */
async function start(
  more: string[],
  options: {headMs?: number; idleMs?: number; env?: NodeJS.ProcessEnv} = {},
): Promise<{proxy: DownloadProxy; open: () => Socket; say: (text: string) => Promise<string>}> {
  const proxy = new DownloadProxy({
    secret: SECRET,
    hosts: new NamedHosts({pythons: false, settings: {}, more, texts: ['--index-url http://localhost:9/simple']}),
    env: {},
    ...options,
  })
  const port = await listen(createServer((socket: Duplex) => proxy.take(socket)))
  undo.push(() => proxy.close())
  const open = (): Socket => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    undo.push(() => socket.destroy())
    return socket
  }
  return {
    proxy,
    open,
    say: async (words) => {
      const socket = open()
      socket.write(words)
      return text(socket)
    },
  }
}

const firstLine = (answer: string): string => answer.split('\r\n')[0] as string

test('the secret comes first, then the host', async () => {
  const {proxy, say} = await start([])
  expect(firstLine(await say('CONNECT nowhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n'))).toContain(' 407 ')
  expect(
    firstLine(await say(`GET http://nowhere.example/ HTTP/1.1\r\nHost: x\r\n${PROOF.replace('Basic', 'Bearer')}\r\n`)),
  ).toContain(' 407 ')
  expect([...proxy.refused]).toEqual([])
  expect(firstLine(await say(`CONNECT nowhere.example:443 HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`))).toContain(' 403 ')
  expect(firstLine(await say(`CONNECT nonsense HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`))).toContain(' 400 ')
  expect(firstLine(await say(`GET /relative HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`))).toContain(' 400 ')
  expect([...proxy.refused]).toEqual(['nowhere.example:443'])
})

test('a name that leads into a private network is refused, unless somebody has named it for that', async () => {
  const target = await listen(createServer((socket) => socket.end('hello')))
  const {proxy, say} = await start([`127.0.0.1:${target}`])
  expect(await say(`CONNECT localhost:9 HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`)).toMatch(/ 403 [^]*private network/)
  expect([...proxy.refused]).toEqual(['localhost:9'])
  expect(await say(`CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`)).toMatch(/ 200 [^]*hello$/)
})

test('a plain request is passed on without what is meant for the proxy; what cannot be reached is known', async () => {
  const seen: IncomingMessage[] = []
  const target = await listen(createHttp((request, response) => (seen.push(request), response.end('found'))))
  const closed = await listen(createServer())
  await undo.pop()?.()
  const {proxy, say} = await start([`127.0.0.1:${target}`, `127.0.0.1:${closed}`])
  expect(
    await say(
      `GET http://127.0.0.1:${target}/simple/?a=1 HTTP/1.1\r\nHost: other\r\nAccept: text/html\r\n${PROOF}\r\n`,
    ),
  ).toMatch(/ 200 OK[^]*found/)
  expect([
    seen[0]?.url,
    seen[0]?.headers.host,
    seen[0]?.headers.accept,
    seen[0]?.headers['proxy-authorization'],
  ]).toEqual(['/simple/?a=1', `127.0.0.1:${target}`, 'text/html', undefined])
  expect(firstLine(await say(`CONNECT 127.0.0.1:${closed} HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`))).toContain(' 502 ')
  expect([...proxy.unreachable.keys()]).toEqual([`127.0.0.1:${closed}`])
  const again = createServer((socket) => socket.end('hello'))
  await once(again.listen(closed, '127.0.0.1'), 'listening')
  undo.push(() => again.close())
  expect(await say(`CONNECT 127.0.0.1:${closed} HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`)).toContain('hello')
  expect([...proxy.unreachable.keys()]).toEqual([])
})

test('who says nothing, or nothing any more, is closed; who has no secret cannot keep others out', async () => {
  const target = await listen(createServer(() => {}))
  const quick = await start([`127.0.0.1:${target}`], {headMs: 200, idleMs: 200})
  const silent = quick.open()
  await once(silent.resume(), 'close')
  const idle = quick.open()
  idle.write(`CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`)
  expect(String((await once(idle, 'data'))[0])).toContain(' 200 ')
  await once(idle, 'close')

  const {open, say} = await start([])
  const crowd = Array.from({length: 40}, open)
  const gone = crowd.map((one) => once(one.resume(), 'close'))
  await Promise.all(gone.slice(0, 8))
  expect(firstLine(await say(`CONNECT nowhere.example:443 HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`))).toContain(' 403 ')
})

test("this machine's own proxy is used, with its password, and left out where it says so", async () => {
  const asked: string[] = []
  const upstream = createHttp(
    (request, response) => (
      asked.push(`${request.url} ${request.headers['proxy-authorization']}`),
      response.end('by proxy')
    ),
  )
  upstream.on(
    'connect',
    (request: IncomingMessage, socket: Duplex) => (
      asked.push(`${request.url} ${request.headers['proxy-authorization']}`),
      socket.end('HTTP/1.1 200 OK\r\n\r\nby tunnel')
    ),
  )
  const port = await listen(upstream)
  const target = await listen(createServer((socket) => socket.end('direct')))
  const url = `http://me:pw@127.0.0.1:${port}`
  const {say} = await start(['far.example', `127.0.0.1:${target}`], {
    env: {HTTPS_PROXY: url, http_proxy: url, NO_PROXY: 'x.example, 127.0.0.1'},
  })
  expect(await say(`CONNECT far.example:443 HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`)).toMatch(/by tunnel$/)
  expect(await say(`GET http://far.example/a HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`)).toMatch(/by proxy/)
  expect(await say(`CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: x\r\n${PROOF}\r\n`)).toMatch(/direct$/)
  const proof = `Basic ${Buffer.from('me:pw').toString('base64')}`
  expect(asked).toEqual([`far.example:443 ${proof}`, `http://far.example/a ${proof}`])
})
