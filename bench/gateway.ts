// What TLS costs a caller of an endpoint: requests a second and latency through the gateway, plain and with TLS, to a
// model server on the head's machine and to one behind its front. The model server answers at once, so that all of it
// is the way; it is called directly, too, as a floor. All in one run, taking turns, in processes of their own.
import {spawn, type ChildProcess} from 'node:child_process'
import {readFileSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {Pool} from 'undici'
import {startHeadProcess} from '../test/support/head-process.ts'
import {median, report, root} from './measure.ts'

const SECONDS = 2
const ROUNDS = 5
const MANY = 16
const BODY = JSON.stringify({
  inputs: [{name: 'x', shape: [1, 64], datatype: 'FP32', data: Array.from({length: 64}, (_, index) => index / 7)}],
})
/** Not the head's own address: its authority signs that for nobody else. */
const FRONT = '127.0.0.2'
const role = process.argv[2]

if (role === 'target') await serveTarget()
else await measure()

/** A model server that answers with what it got. */
async function serveTarget(): Promise<void> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => response.writeHead(200, {'content-type': 'application/json'}).end(Buffer.concat(chunks)))
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({port: (server.address() as AddressInfo).port})))
}

/** The front of a replica, as a supervisor on its node has it. */
async function startFront(
  identity: {key: string; certificate: string; ca: string},
  port: number,
): Promise<{child: ChildProcess; port: number}> {
  const probe = createServer()
  const free = await new Promise<number>((resolve) =>
    probe.listen(0, FRONT, () => resolve((probe.address() as AddressInfo).port)),
  )
  await new Promise((resolve) => probe.close(resolve))
  const script =
    'import json, sys; from flexrack_node.service.front import Front; Front(json.loads(sys.stdin.readline())).start(); print("{}", flush=True); sys.stdin.read()'
  const child = spawn('python3', ['-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {...process.env, PYTHONPATH: join(root, 'node')},
  })
  child.stdin.write(`${JSON.stringify({...identity, listen: [FRONT, free], to: ['127.0.0.1', port]})}\n`)
  await firstLine(child)
  return {child, port: free}
}

interface Figures {
  rate: number[]
  latency: number[]
}

async function measure(): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'target'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const target = JSON.parse(await firstLine(child)) as {port: number}
  const head = await startHeadProcess()
  const post = async <T>(method: string, path: string, body: unknown): Promise<T> =>
    (await (await head.call(method, path, body)).json()) as T
  const front = await startFront(await post('POST', '/flexrack/v1/certificates', {names: [FRONT]}), target.port)
  await post('PUT', '/flexrack/v1/endpoints/near', {
    revision: 0,
    document: {active: {targets: [`http://127.0.0.1:${target.port}`]}},
  })
  await post('PUT', '/flexrack/v1/endpoints/far', {
    revision: 0,
    document: {active: {targets: [`https://${FRONT}:${front.port}`]}},
  })
  const {port, plainPort} = JSON.parse(readFileSync(join(head.folder, 'listener.json'), 'utf8')) as {
    port: number
    plainPort: number
  }
  const ca = readFileSync(join(head.folder, 'tls/ca.pem'), 'utf8')
  const {token} = head
  const headers = {authorization: `Bearer ${token}`, 'content-type': 'application/json'}
  const cases: Record<string, {origin: string; path: string}> = {
    direct: {origin: `http://127.0.0.1:${target.port}`, path: '/v2/models/near/infer'},
    plain: {origin: `http://127.0.0.1:${plainPort}`, path: '/endpoints/near/v2/models/near/infer'},
    tls: {origin: `https://127.0.0.1:${port}`, path: '/endpoints/near/v2/models/near/infer'},
    front: {origin: `https://127.0.0.1:${port}`, path: '/endpoints/far/v2/models/far/infer'},
  }
  const figures: Record<string, Figures> = Object.fromEntries(
    Object.keys(cases).map((name) => [name, {rate: [], latency: []}]),
  )
  try {
    for (let round = -1; round < ROUNDS; round++) {
      for (const [name, {origin, path}] of Object.entries(cases)) {
        const pool = new Pool(origin, {connections: MANY, connect: {ca}})
        const one = await load(pool, path, headers, 1)
        const many = await load(pool, path, headers, MANY)
        await pool.close()
        if (round < 0) continue
        figures[name]!.rate.push(many.length / SECONDS)
        figures[name]!.latency.push(median(one))
      }
    }
  } finally {
    for (const one of [child, front.child]) one.kill('SIGTERM')
    await head.stop()
  }
  const of = (name: string, kind: keyof Figures): number => median(figures[name]![kind])
  report(
    'gateway',
    [
      ...Object.keys(cases).flatMap((name) => [
        {what: `${title(name)}: ${MANY} callers`, value: of(name, 'rate'), unit: 'requests/s' as const},
        {what: `${title(name)}: one caller`, value: of(name, 'latency'), unit: 'ms' as const},
      ]),
      {
        what: 'requests a second with TLS, of those without',
        value: (of('tls', 'rate') / of('plain', 'rate')) * 100,
        unit: '%',
      },
      {
        what: 'requests a second with TLS and a front, of those without either',
        value: (of('front', 'rate') / of('plain', 'rate')) * 100,
        unit: '%',
      },
    ],
    [
      `Requests of ${BODY.length} bytes on kept connections, ${SECONDS} s each, median of ${ROUNDS} rounds that take turns. Callers, gateway, front and model server share the machine's cores.`,
    ],
  )
}

function title(name: string): string {
  return (
    {
      direct: 'the model server itself',
      plain: 'through the gateway, plain',
      tls: 'through the gateway with TLS',
      front: 'through the gateway with TLS, to a front',
    }[name] ?? name
  )
}

/** Milliseconds of each request that `callers` get answered, one after the other each, in SECONDS. */
async function load(pool: Pool, path: string, headers: Record<string, string>, callers: number): Promise<number[]> {
  const times: number[] = []
  const until = performance.now() + SECONDS * 1000
  await Promise.all(
    Array.from({length: callers}, async () => {
      while (performance.now() < until) {
        const begin = performance.now()
        const {statusCode, body} = await pool.request({method: 'POST', path, headers, body: BODY})
        const text = await body.text()
        if (statusCode !== 200 || text.length !== BODY.length) throw new Error(`${statusCode}: ${text.slice(0, 200)}`)
        times.push(performance.now() - begin)
      }
    }),
  )
  return times
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({input: child.stdout!}).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
  })
}
