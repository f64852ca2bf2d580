import {fileURLToPath} from 'node:url'
import {brotliCompressSync, deflateSync, gzipSync} from 'node:zlib'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {answerOf, startScript} from '../../support/head.ts'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startModelServer, type ModelServer} from '../../support/model-server.ts'
import {sameModel} from '../../support/onnx.ts'

let server: TestServer
let model: ModelServer
let token: string

beforeAll(async () => {
  ;[server, model] = await Promise.all([openTestServer(), startModelServer('same', sameModel())])
  await server.activate('same', [model.url])
  const made = await server.call('POST', '/flexrack/v1/tokens', {
    body: {kind: 'endpoint', endpoint: 'same', ttl_seconds: 600},
  })
  token = ((await made.json()) as {token: string}).token
})
afterAll(async () => {
  await server?.close()
  await model?.stop()
})

const client = (name: string): string => fileURLToPath(new URL(`../../fixtures/inference/${name}.py`, import.meta.url))

test("tritonclient's HTTP client works unmodified: types, JSON and binary, compressed both ways", async () => {
  const url = `${new URL(server.url).host}/endpoints/same`
  expect(await answerOf(startScript(model.python, client('triton_http'), [], {URL: url, TOKEN: token}))).toEqual({
    live: true,
    ready: true,
    server: {name: 'flexrack', version: expect.any(String), extensions: ['binary_tensor_data']},
    inputs: {FP32: 'FP32', INT64: 'INT64', BOOL: 'BOOL', BYTES: 'BYTES', FP16: 'FP16'},
    right: 27,
    refused: ['400', 'input INT64 is missing; the model takes FP32, INT64, BOOL, BYTES, FP16'],
    shared: Array(2).fill(['400', expect.stringContaining('in shared memory')]),
  })
})

type Input = [name: string, shape: number[], raw: Buffer, said?: number]
const WHOLE: Input[] = [
  ['FP32', [1], Buffer.alloc(4)],
  ['INT64', [1], Buffer.alloc(8)],
  ['BOOL', [1], Buffer.from([1])],
  ['BYTES', [1], Buffer.from([1, 0, 0, 0, 97])],
  ['FP16', [1], Buffer.alloc(2)],
]
/** A good request, with these inputs in the place of its own. */
function request(...changed: Input[]): {head: Buffer; tail: Buffer} {
  const inputs = WHOLE.map((one) => changed.find(([name]) => name === one[0]) ?? one)
  const head = inputs.map(([name, shape, raw, said = raw.length]) => ({
    name,
    datatype: name,
    shape,
    parameters: {binary_data_size: said},
  }))
  return {
    head: Buffer.from(JSON.stringify({inputs: head, parameters: {binary_data_output: true}})),
    tail: Buffer.concat(inputs.map(([, , raw]) => raw)),
  }
}

async function send(body: Buffer, headers: Record<string, string>, at = server.url): Promise<[number, string]> {
  const path = at === server.url ? '/endpoints/same/v2/models/same/infer' : '/v2/models/same/infer'
  const answer = await fetch(at + path, {
    method: 'POST',
    headers: {authorization: `Bearer ${token}`, ...headers},
    body: new Uint8Array(body),
  })
  return [answer.status, Buffer.from(await answer.arrayBuffer()).toString('latin1')]
}

const LENGTH = 'inference-header-content-length'

describe('a wrong request is answered with what is wrong, in the shape of the protocol:', () => {
  const cases: [string, {head: Buffer; tail: Buffer}, RegExp, string?][] = [
    ['a header longer than the body', request(), /the body has \d+ bytes/, '100000'],
    ['a header of a huge length', request(), /the body has \d+ bytes/, '9'.repeat(400)],
    ['a length that is no number', request(), /the body has \d+ bytes/, '-5'],
    ['a header that is too short', request(), /is not JSON/, '20'],
    ['a header that reaches into the tensors', request(), /is not JSON/, `${request().head.length + 3}`],
    ['a tensor too small', request(['FP32', [2], Buffer.alloc(4)]), /FP32 has 4 bytes; FP32 of shape \[2\] has 8/],
    ['a tensor too large', request(['FP16', [1], Buffer.alloc(4)]), /FP16 has 4 bytes; FP16 of shape \[1\] has 2/],
    ['a huge shape', request(['FP32', [2 ** 40, 2 ** 40], Buffer.alloc(4)]), /FP32 has 4 bytes/],
    ['a negative shape', request(['FP32', [-1], Buffer.alloc(4)]), /must be a list of whole numbers/],
    ['more bytes said than there are', request(['FP16', [1], Buffer.alloc(2), 2 ** 50]), /2 are left behind/],
    ['a negative size', request(['FP16', [1], Buffer.alloc(2), -2]), /whole number of bytes/],
    ['bytes of nobody', {...request(), tail: Buffer.concat([request().tail, Buffer.alloc(3)])}, /3 bytes .* no input/],
    ['a truth that is 2', request(['BOOL', [1], Buffer.from([2])]), /must be 0 or 1/],
    [
      'a string with a lying length',
      request(['BYTES', [1], Buffer.from([255, 255, 255, 255, 97])]),
      /4294967295 bytes/,
    ],
    ['more strings than bytes', request(['BYTES', [2 ** 40], Buffer.from([0, 0, 0, 0])]), /too few for/],
    ['a string that is no text', request(['BYTES', [1], Buffer.from([1, 0, 0, 0, 0xff])]), /not UTF-8/],
  ]
  test.each(cases)('%s', async (_what, {head, tail}, message, length = String(head.length)) => {
    const [status, text] = await send(Buffer.concat([head, tail]), {[LENGTH]: length})
    expect([status, JSON.parse(text)]).toEqual([400, {error: expect.stringMatching(message)}])
  })

  test('broken and unknown compression, and a small body that would be a huge one', async () => {
    const {head, tail} = request()
    const packed = gzipSync(Buffer.concat([head, tail]))
    const headers = {[LENGTH]: String(head.length)}
    const ask = async (body: Buffer, coding: string): Promise<unknown> => {
      const [status, text] = await send(body, {...headers, 'content-encoding': coding})
      return [status, status === 200 ? '' : (JSON.parse(text) as {error: string}).error]
    }
    expect(await ask(packed, 'gzip')).toEqual([200, ''])
    expect(await ask(deflateSync(Buffer.concat([head, tail])), 'deflate')).toEqual([200, ''])
    expect(await ask(packed.subarray(0, -9), 'gzip')).toEqual([400, 'the gzip body ended early'])
    expect(await ask(Buffer.concat([packed, packed]), 'gzip')).toEqual([
      400,
      'there is more behind the end of the gzip body',
    ])
    expect(await ask(packed, 'deflate')).toEqual([400, expect.stringContaining('the body is not deflate')])
    const brotli = brotliCompressSync(Buffer.concat([head, tail]))
    expect(await ask(brotli, 'br')).toEqual([415, expect.stringContaining('encoded with br')]) // the server's own words
    expect(await ask(packed, 'compress')).toEqual([415, expect.stringContaining('encoded with compress')])
    // 272 MiB in 280 KiB: no server gets it.
    const huge = Buffer.concat(Array.from({length: 17}, () => gzipSync(Buffer.alloc(16 * 1024 ** 2), {level: 1})))
    expect(await ask(huge, 'gzip')).toEqual([413, expect.stringContaining('more than 268435456 bytes unpacked')])
  })

  test('what is no request at all', async () => {
    for (const body of ['[]', '{}', '{"inputs": 3}', '{"inputs": [{"name": "FP32"}]}', 'null']) {
      const [status, text] = await send(Buffer.from(body), {})
      expect([body, status, JSON.parse(text)]).toEqual([body, 400, {error: expect.stringContaining('no inference')}])
    }
  })
})

test('a text that speaks of shared memory is none', async () => {
  const parameters = {shared_memory_region: 'of the request: it means nothing'}
  const data = ['{"shared_memory_region": "x"}']
  const inputs = WHOLE.map(([name]) => ({name, datatype: name, shape: [1], data: name === 'BYTES' ? data : [1]}))
  const [status, text] = await send(Buffer.from(JSON.stringify({parameters, inputs})), {})
  expect([status, text.includes('shared_memory_region')]).toEqual([200, true])
})

test('the gateway changes no byte of a request or of an answer', async () => {
  const {head, tail} = request()
  const body = Buffer.concat([head, tail])
  const headers = {[LENGTH]: String(head.length)}
  const [through, direct] = [await send(body, headers), await send(body, headers, model.url)]
  const withoutId = ([status, text]: [number, string]): unknown => [status, text.replace(/"id":"[^"]*"/, '')]
  expect(withoutId(through)).toEqual(withoutId(direct))
  expect(through[0]).toBe(200)
  expect(through[1].endsWith(tail.toString('latin1'))).toBe(true)
})
