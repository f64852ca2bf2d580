// What the gateway costs beside the model server called directly, in one run that takes turns: requests a second that one
// core carries, and latency at half of that (gateway.ts has what TLS costs). Both ends are programs
// in C (http_load.c) that do next to nothing, so that the gateway is the limit.
import {execFileSync, spawn, type ChildProcess} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {Agent} from 'undici'
import {startHeadProcess} from '../test/support/head-process.ts'
import {median, report, root, type Row} from './measure.ts'

const SECONDS = 3
const WARM_SECONDS = 40
const ROUNDS = 5
const CONNECTIONS = 16
const ANSWER_BYTES = 1000
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
  const head = await startHeadProcess()
  try {
    const {port: barePort} = JSON.parse(await firstLine(bare)) as {port: number}
    const document = {active: {targets: [`http://127.0.0.1:${port}`]}}
    await head.call('PUT', '/flexrack/v1/endpoints/near', {revision: 0, document})
    const key = {kind: 'endpoint', endpoint: 'near', client: 'bench', ttl_seconds: 3600}
    const {token} = (await (await head.call('POST', '/flexrack/v1/tokens', key)).json()) as {token: string}
    const file = join(folder, 'request')
    writeFileSync(file, requestOf(token), {mode: 0o600})
    const call = (to: number, rate: number, seconds = SECONDS): Load =>
      JSON.parse(
        execFileSync(program, ['call', String(to), file, String(CONNECTIONS), String(seconds), String(rate)], {
          encoding: 'utf8',
        }),
      ) as Load
    rows(
      compare(
        {direct: port, gateway: Number(new URL(head.url).port), bare: barePort},
        {gateway: head.pid, bare: bare.pid!},
        call,
      ),
    )
  } finally {
    stub.kill()
    bare.kill()
    await head.stop()
    rmSync(folder, {recursive: true})
  }
}

interface Figures {
  /** Requests a second of the head's own CPU time. */
  core: number[]
  /** The same of the bare proxy. */
  bare: number[]
  rate: number[]
  added50: number[]
  added99: number[]
}

function compare(
  ports: {direct: number; gateway: number; bare: number},
  pids: {gateway: number; bare: number},
  call: (to: number, rate: number, seconds?: number) => Load,
): Figures {
  const figures: Figures = {core: [], bare: [], rate: [], added50: [], added99: []}
  const perCore = (who: 'gateway' | 'bare'): {load: Load; core: number} => {
    const before = processorSeconds(pids[who])
    const load = call(ports[who], 0)
    return {load, core: load.requests / (processorSeconds(pids[who]) - before)}
  }
  for (const who of ['gateway', 'bare'] as const) call(ports[who], 0, WARM_SECONDS)
  for (let round = 0; round < ROUNDS; round++) {
    const {load: full, core} = perCore('gateway')
    figures.core.push(core)
    figures.bare.push(perCore('bare').core)
    figures.rate.push(full.requests / full.seconds)
    const half = full.requests / full.seconds / 2
    const [direct, gateway] = [call(ports.direct, half), call(ports.gateway, half)]
    if (full.failed + direct.failed + gateway.failed > 0) throw new Error('not every request was answered')
    figures.added50.push((gateway.p50 - direct.p50) / 1000)
    figures.added99.push((gateway.p99 - direct.p99) / 1000)
  }
  return figures
}

function rows({core, bare, rate, added50, added99}: Figures): void {
  const all: Row[] = [
    {
      what: 'small requests a second, a core of the gateway',
      value: median(core),
      unit: 'requests/s',
      bar: 5000,
      better: 'higher',
    },
    {what: 'the same, a proxy in Node that checks and counts nothing', value: median(bare), unit: 'requests/s'},
    {what: 'of what that one carries', value: (median(core) / median(bare)) * 100, unit: '%'},
    {what: `small requests a second, ${CONNECTIONS} callers`, value: median(rate), unit: 'requests/s'},
    {what: 'added at half of that, median', value: median(added50), unit: 'ms', bar: 1, better: 'lower'},
    {what: 'added at half of that, 99th percentile', value: median(added99), unit: 'ms', bar: 3, better: 'lower'},
  ]
  report('gateway-cost', all, [
    `Requests of ${BODY.length} bytes and answers of ${ANSWER_BYTES} on ${CONNECTIONS} kept connections, ${SECONDS} s each, median of ${ROUNDS} rounds that take turns. The callers and the server that answers are programs in C that do nothing else (bench/http_load.c). A core: requests by the CPU seconds that the head's process used, so that what others do to the machine counts less. Latency is counted from when a request was due (open loop), and half load is of what the same round carried.`,
  ])
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

/** User and system time of all its threads (proc(5)). */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({input: child.stdout!}).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
  })
}
