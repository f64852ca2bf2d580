import {once} from 'node:events'
import {readFileSync} from 'node:fs'
import {connect} from 'node:http2'
import {join} from 'node:path'
import {connect as connectTls} from 'node:tls'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {answerOf, startScript} from '../../support/head.ts'
import {startHeadProcess, type HeadProcess} from '../../support/head-process.ts'
import {startModelServer, type ModelServer} from '../../support/model-server.ts'
import {startTarget} from '../../support/target.ts'
import {sameModel} from '../../support/onnx.ts'

let head: HeadProcess
let model: ModelServer
let token: string
let port: number
let ca: string

beforeAll(async () => {
  head = await startHeadProcess()
  model = await startModelServer('same', sameModel())
  await head.call('PUT', '/flexrack/v1/endpoints/same', {revision: 0, document: {active: {targets: [model.url]}}})
  port = (JSON.parse(readFileSync(join(head.folder, 'listener.json'), 'utf8')) as {port: number}).port
  ca = join(head.folder, 'tls/ca.pem')
  token = await key('everybody')
})
afterAll(async () => {
  await model?.stop()
  await head?.stop()
})

async function key(client: string, limits: object = {}): Promise<string> {
  const made = await head.call('POST', '/flexrack/v1/tokens', {
    kind: 'endpoint',
    endpoint: 'same',
    client,
    ttl_seconds: 600,
    ...limits,
  })
  return ((await made.json()) as {token: string}).token
}

const client = (words: string[], as = token): ReturnType<typeof startScript> =>
  startScript(model.python, fileURLToPath(new URL('../../fixtures/inference/triton_grpc.py', import.meta.url)), words, {
    URL: `127.0.0.1:${port}`,
    CERTIFICATES: ca,
    TOKEN: as,
  })

test("tritonclient's gRPC client works unmodified: health, metadata, types, packed messages, streams, errors", async () => {
  expect(await answerOf(client([]))).toEqual({
    live: true,
    ready: [true, true],
    server: ['flexrack', ['binary_tensor_data']],
    model: ['same', 'onnxruntime_onnx', ['1']],
    inputs: {
      FP32: ['FP32', [-1]],
      INT64: ['INT64', [-1]],
      BOOL: ['BOOL', [-1]],
      BYTES: ['BYTES', [-1]],
      FP16: ['FP16', [-1]],
    },
    right: 6,
    large: true,
    typed: 'input FP16 is missing; the model takes FP32, INT64, BOOL, BYTES, FP16',
    streamed: [
      ['0', true],
      ['1', true],
      ['2', true],
      'input INT64 is missing; the model takes FP32, INT64, BOOL, BYTES, FP16',
      ['after', true],
    ],
    refused: [
      ['StatusCode.INVALID_ARGUMENT', 'input INT64 is missing; the model takes FP32, INT64, BOOL, BYTES, FP16'],
      ['StatusCode.PERMISSION_DENIED', expect.stringContaining('does not open /endpoints/other')],
      ['StatusCode.UNAUTHENTICATED', expect.stringContaining('a token is needed')],
      ['StatusCode.UNAUTHENTICATED', 'the token is wrong, revoked or expired'],
      ['StatusCode.UNIMPLEMENTED', expect.stringContaining('RepositoryModelUnload')],
      ['StatusCode.INVALID_ARGUMENT', expect.stringContaining('in shared memory')],
      ['StatusCode.INVALID_ARGUMENT', expect.stringContaining('in shared memory')],
    ],
  })
})

test('a revoked key ends an open stream at once', async () => {
  const child = client(['stream'], await key('streamer'))
  const answer = answerOf(child)
  await once(child.stderr, 'data')
  await head.call('DELETE', '/flexrack/v1/endpoints/same/keys/streamer')
  expect(await answer).toEqual(['StatusCode.UNAUTHENTICATED', 'the token is wrong, revoked or expired'])
})

/** One call with these bytes as its message. */
function call(method: string, message: Buffer, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const session = connect(`https://127.0.0.1:${port}`, {ca: readFileSync(ca), ALPNProtocols: ['h2']})
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': `/inference.GRPCInferenceService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer ${token}`,
      ...headers,
    })
    const all: Record<string, unknown> = {}
    stream.on('response', (said) => Object.assign(all, said)).on('trailers', (said) => Object.assign(all, said))
    stream.on('error', reject).on('close', () => (session.destroy(), resolve(all)))
    stream.resume()
    stream.end(message)
  })
}
const framed = (message: Buffer, said = message.length, packed = 0): Buffer => {
  const frame = Buffer.alloc(5)
  frame[0] = packed
  frame.writeUInt32BE(said, 1)
  return Buffer.concat([frame, message])
}

test('a wrong message is answered with a status, and what it says of itself is not believed', async () => {
  const cases: [string, Buffer, number, RegExp, Record<string, string>?][] = [
    ['a huge length', framed(Buffer.alloc(3), 2 ** 32 - 1), 8, /4294967295 bytes/],
    ['an early end', framed(Buffer.alloc(3), 10), 3, /ended early/],
    ['no message', Buffer.alloc(0), 3, /no message/],
    ['no protobuf', framed(Buffer.from('ffffffffffffffffffffff', 'hex')), 3, /no end/],
    ['a field beyond the end', framed(Buffer.from('0a7f61', 'hex')), 3, /longer than its message/],
    ['a name that is no text', framed(Buffer.from('0a01ff', 'hex')), 3, /no UTF-8/],
    ['no model', framed(Buffer.alloc(0)), 3, /not named/],
    ['a group', framed(Buffer.from('0b0c', 'hex')), 3, /unknown kind/],
    ['broken packing', framed(Buffer.alloc(9), 9, 1), 3, /unpacked/, {'grpc-encoding': 'gzip'}],
    ['unknown packing', framed(Buffer.alloc(9), 9, 1), 12, /not known/, {'grpc-encoding': 'snappy'}],
    ['no time', framed(Buffer.alloc(0)), 3, /grpc-timeout/, {'grpc-timeout': 'soon'}],
  ]
  for (const [what, message, code, text, headers] of cases) {
    const said = await call('ModelInfer', message, headers)
    expect([what, said['grpc-status'], decodeURIComponent(String(said['grpc-message']))]).toEqual([
      what,
      String(code),
      expect.stringMatching(text),
    ])
  }
  expect(await call('../ModelInfer', framed(Buffer.alloc(0)))).toMatchObject({'grpc-status': '12'})
  expect(await call('constructor', framed(Buffer.alloc(0)))).toMatchObject({'grpc-status': '12'})
  const empty = framed(Buffer.alloc(0))
  expect(await call('ServerLive', empty)).toMatchObject({'grpc-status': '0'})
  expect(await call('ServerLive', Buffer.concat([empty, empty]))).toMatchObject({'grpc-status': '3'})
})

test('a limit is told with the time after which to try again', async () => {
  const headers = {authorization: `Bearer ${await key('slow', {requests_per_second: 0.01})}`}
  expect(await call('ServerLive', framed(Buffer.alloc(0)), headers)).toMatchObject({'grpc-status': '0'})
  const refused = await call('ServerMetadata', framed(Buffer.alloc(0)), headers)
  expect(refused).toMatchObject({'grpc-status': '8', 'grpc-message': expect.stringContaining('requests a second')})
  expect(Number(refused['grpc-retry-pushback-ms'])).toBeGreaterThan(50_000)
})

test('a deadline ends a call, also one whose model server does not answer', async () => {
  process.kill(model.pid, 'SIGSTOP')
  try {
    const said = await call('ModelMetadata', framed(Buffer.from('0a0473616d65', 'hex')), {'grpc-timeout': '300m'})
    expect(said).toMatchObject({'grpc-status': '4'})
  } finally {
    process.kill(model.pid, 'SIGCONT')
  }
})

test('a deadline goes on to the model server, as what is left of it; a full queue is RESOURCE_EXHAUSTED', async () => {
  const seen: unknown[] = []
  const target = await startTarget('same', (incoming, response) => {
    seen.push(Number(incoming.headers['x-envoy-expected-rq-timeout-ms']))
    response.end('{}')
  })
  try {
    const put = async (document: object): Promise<void> => {
      const {revision} = (await (await head.call('GET', '/flexrack/v1/endpoints/same')).json()) as {revision: number}
      await head.call('PUT', '/flexrack/v1/endpoints/same', {revision, document})
    }
    const ask = (): ReturnType<typeof call> =>
      call('ModelReady', framed(Buffer.from('0a0473616d65', 'hex')), {'grpc-timeout': '9S'})
    await put({active: {targets: [target.url]}})
    expect(await ask()).toMatchObject({'grpc-status': '0'})
    expect([seen.length, Number(seen[0]) > 0, Number(seen[0]) <= 9000]).toEqual([1, true, true])
    await put({active: {targets: [], startSeconds: 5}, queue: {requests: 0}})
    expect(await ask()).toMatchObject({'grpc-status': '8', 'grpc-retry-pushback-ms': '1000'})
    await put({active: {targets: [model.url]}})
  } finally {
    await target.stop()
  }
})

test('a caller that cancels ends the work that its model server had begun', async () => {
  let begun!: () => void
  const isBegun = new Promise<void>((resolve) => (begun = resolve))
  let ended!: () => void
  const isEnded = new Promise<void>((resolve) => (ended = resolve))
  const target = await startTarget('slow', (_request, response) => (response.once('close', ended), begun()))
  const session = connect(`https://127.0.0.1:${port}`, {ca: readFileSync(ca), ALPNProtocols: ['h2']})
  try {
    await head.call('PUT', '/flexrack/v1/endpoints/slow', {revision: 0, document: {active: {targets: [target.url]}}})
    const stream = session.request({
      ':method': 'POST',
      ':path': '/inference.GRPCInferenceService/ModelMetadata',
      'content-type': 'application/grpc',
      authorization: `Bearer ${head.token}`,
    })
    stream.on('error', () => {}).end(framed(Buffer.from('0a04736c6f77', 'hex')))
    await isBegun
    stream.close(8)
    await isEnded
    await expect
      .poll(async () => (await (await head.call('GET', '/flexrack/v1/endpoints/slow')).json()) as unknown)
      .toMatchObject({in_flight: {[target.url]: 0}})
  } finally {
    session.destroy()
    await target.stop()
  }
})

test('metadata goes on as headers, splits a canary as they do, and the answer names its release', async () => {
  const seen: Record<string, unknown>[] = []
  const targets = await Promise.all(
    ['r1', 'r2'].map((name) =>
      startTarget(name, ({headers}, response) => (seen.push({name, ...headers}), response.end('{}'))),
    ),
  )
  try {
    const canary = {release: 'r2', since: new Date(0).toISOString(), targets: [targets[1]!.url], steps: [50]}
    const active = {release: 'r1', targets: [targets[0]!.url]}
    const document = {active, canary: {...canary, header: 'x-user'}}
    await head.call('PUT', '/flexrack/v1/endpoints/split', {revision: 0, document})
    const ask = (metadata: Record<string, string>): ReturnType<typeof call> =>
      call('ModelReady', framed(Buffer.from('0a0573706c6974', 'hex')), {
        authorization: `Bearer ${head.token}`,
        ...metadata,
      })
    const said = await ask({'x-user': 'ann', 'x-trace': 'a b', 'trace-bin': 'AAEC', 'grpc-trace': '1', cookie: 'c=1'})
    expect(said).toMatchObject({'grpc-status': '0', 'x-flexrack-release': seen[0]!.name})
    expect(seen[0]).toMatchObject({'x-user': 'ann', 'x-trace': 'a b'})
    expect(Object.keys(seen[0]!).filter((name) => /bin|grpc|cookie|authorization/.test(name))).toEqual([])
    const releases = await Promise.all(
      Array.from({length: 12}, async (_, user) => {
        const headers = {authorization: `Bearer ${head.token}`, 'x-user': `user-${user}`}
        const overHttp = await fetch(`${head.url}/endpoints/split/v2/models/split/ready`, {headers})
        const release = overHttp.headers.get('x-flexrack-release')
        expect(await ask({'x-user': `user-${user}`})).toMatchObject({'x-flexrack-release': release})
        return release
      }),
    )
    expect([...new Set(releases)].sort()).toEqual(['r1', 'r2'])
    const huge = await ask({'x-huge': 'x'.repeat(20_000)})
    expect([huge['grpc-status'], huge['grpc-message']]).toEqual([
      '8',
      'the metadata has 20006 bytes, more than the 12288 allowed',
    ])
  } finally {
    await Promise.all(targets.map((one) => one.stop()))
  }
})

test('only callers that speak nothing else get HTTP/2 from the head', async () => {
  const chosen = async (ALPNProtocols: string[]): Promise<string | false | null> => {
    const socket = connectTls({host: '127.0.0.1', port, ca: readFileSync(ca), ALPNProtocols})
    await once(socket, 'secureConnect')
    socket.destroy()
    return socket.alpnProtocol
  }
  expect([await chosen(['h2', 'http/1.1']), await chosen(['h2']), await chosen(['http/1.1'])]).toEqual([
    'http/1.1',
    'h2',
    'http/1.1',
  ])
})
