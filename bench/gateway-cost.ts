// What the gateway costs beside the model server called directly, in one run that takes turns: requests a second that one
// core carries, and latency at half of that (gateway.ts has what TLS costs). Both ends are programs
// in C (http_load.c) that do next to nothing, so that the gateway is the limit.
import {execFileSync, spawn, spawnSync, type ChildProcess} from 'node:child_process'
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {createServer} from 'node:http'
import {connect, type AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {Agent} from 'undici'
import {startHeadProcess} from '../test/support/head-process.ts'
import {freePort} from '../test/support/sshd.ts'
import {median, report, root, type Row} from './measure.ts'

const SLICE_SECONDS = 0.3
const ROUNDS = 40
const WARM_REQUESTS = 60_000
const LATENCY_SECONDS = 1
const LATENCY_ROUNDS = 15
const CONNECTIONS = 16
const ANSWER_BYTES = 1000
/** Requests a second that a core has to carry. */
const RATE_BAR = 5000
const BODY = JSON.stringify({
  inputs: [{name: 'x', shape: [1, 64], datatype: 'FP32', data: Array.from({length: 64}, (_, index) => index / 7)}],
})

/** What `http_load call` prints; microseconds. */
interface Load {
  requests: number
  failed: number
  seconds: number
  p50: number
  p99: number
}

if (process.argv[2] === 'bare') serveBare(process.argv[3]!)
else await measure()

/**
 * The least that a proxy in Node can do: the body as one piece to the server, its answer back, by the same libraries. No
 * token, no route, no counts.
 */
function serveBare(target: string): void {
  const agent = new Agent({connections: null})
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () =>
      agent.dispatch(
        {
          origin: target,
          path: '/v2/models/near/infer',
          method: 'POST',
          headers: {'content-type': 'application/json'},
          body: Buffer.concat(chunks),
        },
        {
          onRequestStart: () => {},
          onResponseStart: (_controller, status, headers) => response.writeHead(status, headers),
          onResponseData: (_controller, chunk) => response.write(chunk),
          onResponseEnd: () => response.end(),
          onResponseError: () => response.destroy(),
        },
      ),
    )
  })
  server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({port: (server.address() as AddressInfo).port})))
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flexrack-bench-'))
  const program = join(folder, 'http_load')
  execFileSync('gcc', ['-O2', '-Wall', '-o', program, join(root, 'bench/http_load.c')], {stdio: 'inherit'})
  const stub = spawn(program, ['serve', String(ANSWER_BYTES)], {stdio: ['ignore', 'pipe', 'inherit']})
  const {port} = JSON.parse(await firstLine(stub)) as {port: number}
  const bare = spawn(process.execPath, [fileURLToPath(import.meta.url), 'bare', `http://127.0.0.1:${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const haproxy = await startHaproxy(folder, port)
  const head = await startHeadProcess()
  try {
    const {port: barePort} = JSON.parse(await firstLine(bare)) as {port: number}
    const document = {active: {targets: [`http://127.0.0.1:${port}`]}}
    await head.call('PUT', '/flexrack/v1/endpoints/near', {revision: 0, document})
    const key = {kind: 'endpoint', endpoint: 'near', client: 'bench', ttl_seconds: 3600}
    const {token} = (await (await head.call('POST', '/flexrack/v1/tokens', key)).json()) as {token: string}
    const file = join(folder, 'request')
    writeFileSync(file, requestOf(token), {mode: 0o600})
    const call = (to: number, rate: number, seconds = SLICE_SECONDS): Load => {
      const words = ['call', String(to), file, String(CONNECTIONS), String(seconds), String(rate)]
      const load = JSON.parse(execFileSync(program, words, {encoding: 'utf8'})) as Load
      if (load.failed > 0) throw new Error('not every request was answered')
      return load
    }
    const proxies: Proxy[] = [
      {name: 'gateway', port: Number(new URL(head.url).port), pid: head.pid},
      {name: 'bare', port: barePort, pid: bare.pid!},
      ...(haproxy ? [{name: 'haproxy' as const, port: haproxy.port, pid: haproxy.pid}] : []),
    ]
    rows(compare(port, proxies, call))
  } finally {
    stub.kill()
    bare.kill()
    haproxy?.stop()
    await head.stop()
    rmSync(folder, {recursive: true})
  }
}

interface Proxy {
  name: 'gateway' | 'bare' | 'haproxy'
  port: number
  pid: number
}

interface Figures {
  /** Microseconds of a proxy's processor for a request, by slice. */
  cost: Partial<Record<Proxy['name'], number[]>>
  /** Of the gateway, in requests a second. */
  rate: number[]
  /** At half of what the gateway carried here, and at half of what it has to carry. */
  half: Added
  modest: Added
}

/** Milliseconds that a proxy adds, by round. */
type Added = Partial<Record<Proxy['name'], {p50: number[]; p99: number[]}>>

/** Slices so short that what else the machine does meets all alike; a request's cost is that of the processor alone. */
function compare(
  direct: number,
  proxies: Proxy[],
  call: (to: number, rate: number, seconds?: number) => Load,
): Figures {
  const figures: Figures = {cost: {}, rate: [], half: {}, modest: {}}
  for (const {port} of proxies) for (let done = 0; done < WARM_REQUESTS;) done += call(port, 0, 2).requests
  for (let round = 0; round < ROUNDS; round++) {
    for (const {name, port, pid} of proxies) {
      const before = processorMicroseconds(pid)
      const {requests, seconds} = call(port, 0)
      ;(figures.cost[name] ??= []).push((processorMicroseconds(pid) - before) / requests)
      if (name === 'gateway') figures.rate.push(requests / seconds)
    }
  }
  for (let round = 0; round < LATENCY_ROUNDS; round++) {
    for (const [added, rate] of [
      [figures.half, median(figures.rate) / 2],
      [figures.modest, RATE_BAR / 2],
    ] as const) {
      const there = call(direct, rate, LATENCY_SECONDS)
      for (const {name, port} of proxies) {
        const through = call(port, rate, LATENCY_SECONDS)
        const own = (added[name] ??= {p50: [], p99: []})
        own.p50.push((through.p50 - there.p50) / 1000)
        own.p99.push((through.p99 - there.p99) / 1000)
      }
    }
  }
  return figures
}

function rows({cost, rate, half, modest}: Figures): void {
  const [gateway, bare] = [median(cost.gateway!), median(cost.bare!)]
  const haproxy = cost.haproxy && median(cost.haproxy)
  const all: Row[] = [
    {
      what: 'small requests a second, a core of the gateway',
      value: 1e6 / gateway,
      unit: 'requests/s',
      bar: RATE_BAR,
      better: 'higher',
    },
    {what: "the head's processor for a small request", value: gateway, unit: 'µs'},
    {what: 'the same, a proxy in Node that checks and counts nothing', value: bare, unit: 'µs'},
    ...(haproxy === undefined ? [] : [{what: 'the same, HAProxy on one thread', value: haproxy, unit: 'µs' as const}]),
    {what: 'of what the proxy in Node carries', value: (bare / gateway) * 100, unit: '%'},
    {what: `small requests a second, ${CONNECTIONS} callers`, value: median(rate), unit: 'requests/s'},
    ...addedRows('half of that', half),
    ...addedRows(`${RATE_BAR / 2} requests a second`, modest),
  ]
  report('gateway-cost', all, [
    `Requests of ${BODY.length} bytes and answers of ${ANSWER_BYTES} on ${CONNECTIONS} kept connections, median of ${ROUNDS} rounds of ${SLICE_SECONDS} s that take turns. The callers and the server that answers are programs in C that do nothing else (bench/http_load.c). Processor: of all threads, as the scheduler counts it, so that what others do to the machine counts less; a core is a second of it. Latency is counted from when a request was due (open loop), at half of what 16 callers got and at ${RATE_BAR / 2} requests a second, ${LATENCY_ROUNDS} rounds of ${LATENCY_SECONDS} s of each. ${haproxy === undefined ? 'HAProxy is not installed.' : 'HAProxy checks no token and counts nothing for anybody.'}`,
  ])
}

/** What each adds at one rate; the gateway's are held to a bar. */
function addedRows(rate: string, added: Added): Row[] {
  const names = {gateway: 'the gateway', bare: 'the proxy in Node', haproxy: 'HAProxy'}
  return Object.entries(added).flatMap(([name, {p50, p99}]): Row[] => {
    const who = names[name as Proxy['name']]
    const held = (bar: number): Partial<Row> => (name === 'gateway' ? {bar, better: 'lower'} : {})
    return [
      {what: `added at ${rate} by ${who}, median`, value: median(p50), unit: 'ms', ...held(1)},
      {what: `added at ${rate} by ${who}, 99th percentile`, value: median(p99), unit: 'ms', ...held(3)},
    ]
  })
}

/** What a proxy that was made for it takes, where it is installed: each request goes on with another path. */
async function startHaproxy(
  folder: string,
  target: number,
): Promise<{port: number; pid: number; stop(): void} | undefined> {
  if (spawnSync('haproxy', ['-v']).status !== 0) return undefined
  const port = await freePort()
  const config = join(folder, 'haproxy.cfg')
  writeFileSync(
    config,
    [
      'global\n  nbthread 1',
      'defaults\n  mode http\n  timeout connect 5s\n  timeout client 300s\n  timeout server 300s',
      `frontend f\n  bind 127.0.0.1:${port}\n  default_backend b`,
      'backend b\n  http-request set-path /v2/models/near/infer\n  http-request del-header authorization',
      `  server s 127.0.0.1:${target}\n`,
    ].join('\n'),
  )
  const child = spawn('haproxy', ['-db', '-f', config], {stdio: ['ignore', 'inherit', 'inherit']})
  while (!(await takesConnections(port))) if (child.exitCode !== null) throw new Error('HAProxy has ended')
  return {port, pid: child.pid!, stop: () => void child.kill()}
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => (socket.destroy(), resolve(true)))
    socket.on('error', () => setTimeout(() => resolve(false), 50))
  })
}

function requestOf(token: string): string {
  return [
    'POST /endpoints/near/v2/models/near/infer HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    'accept: */*',
    `content-length: ${BODY.length}`,
    '',
    BODY,
  ].join('\r\n')
}

/** On a core, of all its threads (proc(5), schedstat). */
function processorMicroseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const of = (thread: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  return threads.reduce((sum, thread) => sum + of(thread), 0) / 1000
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({input: child.stdout!}).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
  })
}
