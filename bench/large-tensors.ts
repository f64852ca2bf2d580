// Tensors of 64 MiB there and back through the gateway, of what the model server itself does when it is called
// directly, in one run that takes turns. The model servers: the runtime `onnx`, whose model gives back what it gets, and
// one that does the same with the bytes as they come, so that all of it is the way. Beside them a proxy in Node that only
// pipes, with TLS: what Node itself lets through.
import {spawn} from 'node:child_process'
import {readFileSync} from 'node:fs'
import {createServer, request as send, type RequestListener} from 'node:http'
import {createServer as createSecureServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {Pool} from 'undici'
import {startHeadProcess} from '../test/support/head-process.ts'
import {startModelServer} from '../test/support/model-server.ts'
import {addModel} from '../test/support/onnx.ts'
import {median, report} from './measure.ts'

const MIB = 1024 ** 2
const TENSOR = Buffer.alloc(64 * MIB, 1)
const WIDTH = 1024
const ROUNDS = 9
const NEAR = '127.0.0.1'
/** Not the head's own address: its authority signs that for nobody else. */
const OTHER = '127.0.0.2'
const HEAD = Buffer.from(
  JSON.stringify({
    inputs: [
      {
        name: 'x',
        shape: [TENSOR.length / 4 / WIDTH, WIDTH],
        datatype: 'FP32',
        parameters: {binary_data_size: TENSOR.length},
      },
    ],
    parameters: {binary_data_output: true},
  }),
)
const BODY = Buffer.concat([HEAD, TENSOR])

if (process.argv[2] === 'target') await serveTarget()
else if (process.argv[2] === 'bare') await serveBare(process.argv[3]!)
else await measure()

/** Answers with the tensor that it got, as it comes: plainly, and with TLS by what it is told on stdin. */
async function serveTarget(): Promise<void> {
  const mirror: RequestListener = (request, response) => {
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': request.headers['content-length'],
    })
    request.pipe(response)
  }
  const {key, certificate} = JSON.parse(await lineOf(process.stdin)) as {key: string; certificate: string}
  const servers = [createServer(mirror), createSecureServer({key, cert: certificate}, mirror)]
  await Promise.all(
    servers.map((server, at) => new Promise<void>((done) => server.listen(0, at === 0 ? NEAR : OTHER, done))),
  )
  const [port, securePort] = servers.map((server) => (server.address() as AddressInfo).port)
  console.log(JSON.stringify({port, securePort}))
}

/** The least that a proxy in Node can do, with TLS: two pipes. No token, no limits, no counts. */
async function serveBare(target: string): Promise<void> {
  const {key, certificate} = JSON.parse(await lineOf(process.stdin)) as {key: string; certificate: string}
  const server = createSecureServer({key, cert: certificate}, (request, response) => {
    const {method, url, headers} = request
    const onward = send(new URL(url!, target), {method, headers}, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  server.listen(0, OTHER, () => console.log(JSON.stringify({port: (server.address() as AddressInfo).port})))
}

function lineOf(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => createInterface({input: stream}).once('line', resolve))
}

async function measure(): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'target'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const head = await startHeadProcess()
  const identity = await (await head.call('POST', '/flexrack/v1/certificates', {names: [OTHER]})).text()
  child.stdin.write(`${JSON.stringify(JSON.parse(identity))}\n`)
  const ports = JSON.parse(await lineOf(child.stdout)) as {port: number; securePort: number}
  const mirror = `http://${NEAR}:${ports.port}`
  const onnx = await startModelServer('onnx', addModel(1, WIDTH))
  const bare = spawn(process.execPath, [fileURLToPath(import.meta.url), 'bare', onnx.url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  bare.stdin.write(`${JSON.stringify(JSON.parse(identity))}\n`)
  const {port: barePort} = JSON.parse(await lineOf(bare.stdout)) as {port: number}
  for (const [name, target] of Object.entries({mirror, onnx: onnx.url})) {
    const document = {active: {targets: [target]}}
    await head.call('PUT', `/flexrack/v1/endpoints/${name}`, {revision: 0, document})
  }
  const {port} = JSON.parse(readFileSync(join(head.folder, 'listener.json'), 'utf8')) as {port: number}
  const ca = readFileSync(join(head.folder, 'tls/ca.pem'), 'utf8')
  const origins = {direct: '', plain: head.url, tls: `https://127.0.0.1:${port}`}
  const times: Record<string, number[]> = {}
  /** On a new connection. */
  const ask = async (what: string, origin: string, path: string, counts: boolean): Promise<void> => {
    const pool = new Pool(origin, {connections: 1, connect: {ca}})
    const begin = performance.now()
    await exchange(pool, path, head.token)
    if (counts) (times[what] ??= []).push(performance.now() - begin)
    await pool.close()
  }
  try {
    for (let round = -1; round < ROUNDS; round++) {
      for (const [name, target] of Object.entries({mirror, onnx: onnx.url})) {
        for (const [way, origin] of Object.entries(origins)) {
          const path = `${way === 'direct' ? '' : `/endpoints/${name}`}/v2/models/${name}/infer`
          await ask(`${name} ${way}`, origin || target, path, round >= 0)
        }
      }
      await ask('onnx bare', `https://${OTHER}:${barePort}`, '/v2/models/onnx/infer', round >= 0)
      await ask('mirror secure', `https://${OTHER}:${ports.securePort}`, '/v2/models/mirror/infer', round >= 0)
    }
  } finally {
    child.kill('SIGTERM')
    bare.kill('SIGTERM')
    await Promise.all([onnx.stop(), head.stop()])
  }
  const of = (name: string): number => median(times[name]!)
  const titles = {mirror: 'a server that gives the bytes back', onnx: 'the runtime onnx'}
  report(
    'large-tensors',
    [
      ...Object.entries(titles).flatMap(([name, title]) => [
        {what: `${title}, called directly`, value: of(`${name} direct`), unit: 'ms' as const},
        {what: `${title}, through the gateway`, value: of(`${name} plain`), unit: 'ms' as const},
        {what: `${title}, through the gateway with TLS`, value: of(`${name} tls`), unit: 'ms' as const},
        {
          what: `${title}: rate through the gateway, of that of direct calls`,
          value: (of(`${name} direct`) / of(`${name} plain`)) * 100,
          unit: '%' as const,
          // Where the other server only copies, both ways fill the same two cores, and each way through costs as much.
          ...(name === 'onnx' && {bar: 80, better: 'higher' as const}),
        },
        {
          what: `${title}: rate through the gateway with TLS, of that of direct calls`,
          value: (of(`${name} direct`) / of(`${name} tls`)) * 100,
          unit: '%' as const,
          ...(name === 'onnx' && {bar: 80, better: 'higher' as const}),
        },
      ]),
      {what: `${titles.onnx}, through a proxy in Node that only pipes, with TLS`, value: of('onnx bare'), unit: 'ms'},
      {
        what: `${titles.onnx}: rate through that proxy, of that of direct calls`,
        value: (of('onnx direct') / of('onnx bare')) * 100,
        unit: '%',
      },
      {what: `${titles.mirror}, called directly with TLS`, value: of('mirror secure'), unit: 'ms'},
      {
        what: `${titles.mirror}: rate through the gateway with TLS, of that of direct calls with TLS`,
        value: (of('mirror secure') / of('mirror tls')) * 100,
        unit: '%',
      },
      {
        // MLServer speaks no TLS: what it costs a caller and a server is that of the other one.
        what: `${titles.onnx}: rate through the gateway with TLS, of direct calls that pay for TLS, too`,
        value: ((of('onnx direct') + of('mirror secure') - of('mirror direct')) / of('onnx tls')) * 100,
        unit: '%',
        bar: 80,
        better: 'higher',
      },
    ],
    [
      `64 MiB as a binary tensor of the Open Inference Protocol, there and back, on a new connection; median of ${ROUNDS} rounds that take turns. Caller, gateway and model server share the machine's cores.`,
    ],
  )
}

async function exchange(pool: Pool, path: string, token: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/octet-stream',
    'inference-header-content-length': String(HEAD.length),
  }
  const {statusCode, body} = await pool.request({method: 'POST', path, headers, body: BODY})
  let size = 0
  for await (const chunk of body) size += (chunk as Buffer).length
  if (statusCode !== 200 || size < TENSOR.length) throw new Error(`${statusCode}, ${size} bytes`)
}
