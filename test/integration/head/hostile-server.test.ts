import {createServer, type AddressInfo, type Server} from 'node:net'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'

let server: TestServer
let hostile: Server
let bytes: Buffer

beforeAll(async () => {
  server = await openTestServer()
  hostile = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(bytes))
  })
  await new Promise<void>((done) => hostile.listen(0, '127.0.0.1', done))
  const {port} = hostile.address() as AddressInfo
  const document = {active: {release: 'r1', targets: [`http://127.0.0.1:${port}`]}}
  await server.call('PUT', '/flexrack/v1/endpoints/digits', {body: {revision: 0, document}})
})
afterAll(async () => {
  hostile.close()
  await server.close()
})

const answerTo = async (): Promise<number | 'broken off'> => {
  try {
    const answer = await server.call('POST', '/endpoints/digits/v2/models/digits/infer', {body: {inputs: []}})
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 'broken off'
  }
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n'

// What is no whole answer is never taken for one, and nobody waits for the rest of it.
test.each([
  ['nothing', ''],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['half a head', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ['a status below 100', 'HTTP/1.1 042 Odd\r\ncontent-length: 2\r\n\r\n{}'],
  ['a header with a control character', `${OK}x-odd: a\u0001b\r\n\r\n{}`],
  ['a header that breaks the line', `${OK}x-odd: a\rset-cookie: b\r\n\r\n{}`],
  ['two lengths', `${OK}content-length: 3\r\n\r\n{}`],
  ['less than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{}'],
  ['chunks without an end', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n'],
  ['a chunk of no size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n'],
  ['endless promises', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)],
  ['headers without end', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(100_000)}`],
  ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'],
])('a model server that answers %s gets its caller an error or a broken connection', async (_what, answer) => {
  bytes = Buffer.from(answer, 'latin1')
  expect([502, 503, 504, 'broken off']).toContain(await answerTo())
})

test.each([
  ['more than its length', `${OK}\r\n{}HTTP/1.1 200 OK\r\n\r\nsmuggled`],
  ['letters of Latin-1 in a header', `${OK}x-name: J\u00fcrgen\r\n\r\n{}`],
  ['promises first', `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}\r\n{}`],
  ['headers between neighbours', `${OK}connection: close, x-odd\r\nx-odd: a\r\nkeep-alive: timeout=1\r\n\r\n{}`],
])('one that answers %s is passed on, and nothing of what follows', async (_what, answer) => {
  bytes = Buffer.from(answer, 'latin1')
  const passed = await server.call('POST', '/endpoints/digits/v2/models/digits/infer', {body: {inputs: []}})
  expect([passed.status, await passed.text()]).toEqual([200, '{}'])
  expect(passed.headers.get('x-odd')).toBeNull()
})
