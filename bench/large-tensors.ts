// Tensors of 64 MiB there and back through the gateway, of what the model server itself does when it is called
// directly, in one run that takes turns. The model servers: the runtime `onnx`, whose model gives back what it gets, and
// one that does the same with the bytes as they come, so that all of it is the way.
import {spawn} from 'node:child_process'
import {readFileSync} from 'node:fs'
import {createServer} from 'node:http'
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

if (process.argv[2] === 'target') serveTarget()
else await measure()

/** Answers with the tensor that it got, as it comes. */
function serveTarget(): void {
  const server = createServer((request, response) => {
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': request.headers['content-length'],
    })
    request.pipe(response)
  })
  server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({port: (server.address() as AddressInfo).port})))
}

async function measure(): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'target'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<string>((resolve) =>
    createInterface({input: child.stdout}).once('line', (text) => resolve(text)),
  )
  const mirror = `http://127.0.0.1:${(JSON.parse(line) as {port: number}).port}`
  const onnx = await startModelServer('onnx', addModel(1, WIDTH))
  const head = await startHeadProcess()
  for (const [name, target] of Object.entries({mirror, onnx: onnx.url})) {
    const document = {active: {targets: [target]}}
    await head.call('PUT', `/flexrack/v1/endpoints/${name}`, {revision: 0, document})
  }
  const {port} = JSON.parse(readFileSync(join(head.folder, 'listener.json'), 'utf8')) as {port: number}
  const ca = readFileSync(join(head.folder, 'tls/ca.pem'), 'utf8')
  const origins = {direct: '', plain: head.url, tls: `https://127.0.0.1:${port}`}
  const times: Record<string, number[]> = {}
  try {
    for (let round = -1; round < ROUNDS; round++) {
      for (const [name, target] of Object.entries({mirror, onnx: onnx.url})) {
        for (const [way, origin] of Object.entries(origins)) {
          const path = `${way === 'direct' ? '' : `/endpoints/${name}`}/v2/models/${name}/infer`
          const pool = new Pool(origin || target, {connections: 1, connect: {ca}})
          const begin = performance.now()
          await ask(pool, path, head.token)
          if (round >= 0) (times[`${name} ${way}`] ??= []).push(performance.now() - begin)
          await pool.close()
        }
      }
    }
  } finally {
    child.kill('SIGTERM')
    await Promise.all([onnx.stop(), head.stop()])
  }
  const of = (name: string): number => median(times[name]!)
  const titles = {mirror: 'a server that gives the bytes back', onnx: 'the runtime onnx'}
  report(
    'large-tensors',
    Object.entries(titles).flatMap(([name, title]) => [
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
      },
    ]),
    [
      `64 MiB as a binary tensor of the Open Inference Protocol, there and back, on a new connection; median of ${ROUNDS} rounds that take turns. Caller, gateway and model server share the machine's cores.`,
    ],
  )
}

async function ask(pool: Pool, path: string, token: string): Promise<void> {
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
