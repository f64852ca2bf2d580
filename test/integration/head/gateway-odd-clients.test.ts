import {connect} from 'node:net'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget, type Target} from '../../support/target.ts'

const CALL = '/endpoints/chat/v1/chat/completions'
let server: TestServer
let target: Target
let asked: {headers: string[]; body: string}[]

beforeAll(async () => {
  server = await openTestServer()
  target = await startTarget('engine', ({headers}, response, body) => {
    asked.push({headers: Object.keys(headers).sort(), body: body.toString()})
    response.writeHead(200, {'content-type': 'application/json', 'content-length': 2}).end('{}')
  })
  await server.activate('chat', [target.url], {protocol: 'openai'})
})
afterAll(async () => {
  await target.stop()
  await server.close()
})

/** What comes back for these bytes, until `count` heads of answers are there, or the connection is closed. */
function send(text: string, count: number): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  return new Promise((resolve) => {
    let got = ''
    const done = (): void => {
      resolve(got)
      socket.destroy()
    }
    socket.on('data', (chunk) => {
      got += String(chunk)
      if (got.split('\r\n\r\n').length > count) done()
    })
    socket.on('error', done).on('close', done)
    socket.write(text)
  })
}

/** Status and body of each answer. */
const answersOf = (got: string): string[] =>
  got
    .split('HTTP/1.1 ')
    .slice(1)
    .map((one) => `${one.slice(0, 3)} ${one.split('\r\n\r\n')[1]}`)

const post = (headers: string, body = '{}', version = '1.1'): string =>
  `POST ${CALL} HTTP/${version}\r\nhost: x\r\nauthorization: Bearer ${server.admin}\r\n${headers}\r\n\r\n${body}`
const SENT = ['connection', 'content-length', 'content-type', 'host']
const ONE = {headers: SENT, body: '{}'}
const LENGTH = 'content-length: 2'
const INNER = 'GET /endpoints/chat/v1/models HTTP/1.1\r\nhost: x\r\n\r\n'

test.each<[string, () => string, string[], unknown[]]>([
  ['waits for 100 Continue', () => post(`expect: 100-continue\r\n${LENGTH}`), ['100 ', '200 {}'], [ONE]],
  [
    'offers HTTP/2 by an upgrade',
    () => post(`connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n${LENGTH}`),
    ['200 {}'],
    [ONE],
  ],
  [
    'sends pieces, and a trailer',
    () => post('transfer-encoding: chunked\r\ntrailer: x-sum', '2;x=1\r\n{}\r\n0\r\nx-sum: 1\r\n\r\n'),
    ['200 {}'],
    [ONE],
  ],
  ['speaks HTTP/1.0', () => post(LENGTH, '{}', '1.0'), ['200 {}'], [ONE]],
  ['has two requests under way at once', () => post(LENGTH) + post(LENGTH), ['200 {}', '200 {}'], [ONE, ONE]],
  ['names headers as between us two', () => post(`connection: x-odd\r\nx-odd: 1\r\n${LENGTH}`), ['200 {}'], [ONE]],
  ['expects what nobody knows', () => post(`expect: beer\r\n${LENGTH}`, ''), ['417 0'], []],
  [
    'says two lengths of one body',
    () => post(`${LENGTH}\r\ntransfer-encoding: chunked`, '2\r\n{}\r\n0\r\n\r\n'),
    ['400 {"error":"Bad Request","message":"Client Error","statusCode":400}'],
    [],
  ],
  [
    'hides a request in the body of another one, which has none',
    () => post(`content-length: ${INNER.length}`, INNER).replace(`POST ${CALL}`, 'GET /endpoints/chat/v1/models'),
    ['200 {}'],
    [{headers: ['connection', 'host'], body: ''}],
  ],
])('a client that %s is answered, and its engine gets one plain request', async (_what, text, answers, requests) => {
  asked = []
  expect(answersOf(await send(text(), answers.length))).toEqual(answers)
  expect(asked).toEqual(requests)
})

const CHUNKED = 'transfer-encoding: chunked'
const PIECES = '2\r\n{}\r\n0\r\n\r\n'
/** What two who read the same bytes may read as two different requests (RFC 9112, 6.1, 7.1 and 11.2). */
test.each<[string, string, string, number]>([
  ['the same length twice', `${LENGTH}\r\n${LENGTH}`, '{}', 400],
  ['a list of lengths', 'content-length: 2, 2', '{}', 400],
  ['a length with a sign', 'content-length: +2', '{}', 400],
  ['a header in two lines', `x-a: 1\r\n 2\r\n${LENGTH}`, '{}', 400],
  ['a coding in the next line', 'transfer-encoding:\r\n chunked', PIECES, 400],
  ['a name with a space behind it', 'transfer-encoding : chunked', PIECES, 400],
  ['chunked before another coding', 'transfer-encoding: chunked, identity', PIECES, 400],
  ['two codings', 'transfer-encoding: gzip, chunked', PIECES, 501],
  ['chunked twice', `${CHUNKED}\r\n${CHUNKED}`, PIECES, 400],
  ['a size with a prefix', CHUNKED, `0x${PIECES}`, 400],
  ['a size beyond 64 bits', CHUNKED, `1000000000000000${PIECES}`, 400],
  ['lines that end half', CHUNKED, PIECES.replaceAll('\r', ''), 400],
  ['more than its piece has', CHUNKED, PIECES.replace('{}', '{}x'), 400],
  ['an extension of 20 KB', CHUNKED, PIECES.replace('2', `2;${'x'.repeat(20_000)}`), 400],
  ['a length behind the body', CHUNKED, PIECES.replace('\r\n\r\n', '\r\ncontent-length: 9\r\n\r\n'), 400],
])('a request with %s is refused, and goes nowhere', async (_what, headers, body, status) => {
  asked = []
  expect(answersOf(await send(post(headers, body), 1)).map((one) => Number(one.slice(0, 3)))).toEqual([status])
  expect(asked).toEqual([])
})
