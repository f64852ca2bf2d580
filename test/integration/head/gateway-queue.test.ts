import {once} from 'node:events'
import {readFile} from 'node:fs/promises'
import {request} from 'node:http'
import {setTimeout as pause} from 'node:timers/promises'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {Pulse} from '../../../src/lib/head/service/queue/pulse.ts'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget as openTarget, type Answer, type Target} from '../../support/target.ts'

let server: TestServer
const closers: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  server = await openTestServer()
})
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
  await server.close()
})

async function startTarget(...given: Parameters<typeof openTarget>): Promise<Target> {
  const target = await openTarget(...given)
  closers.push(() => target.stop().catch(() => {}))
  return target
}

const INFER = '/endpoints/digits/v2/models/digits/infer'
const infer = (headers: Record<string, string> = {}, token?: string): Promise<Response> =>
  server.call('POST', INFER, {body: {}, headers, ...(token !== undefined && {token})})
const demand = (): {inFlight: number; queued: number} => server.parts.queues.demand('digits')
const becomes = async (inFlight: number, queued: number): Promise<void> => {
  while (demand().inFlight !== inFlight || demand().queued !== queued) await pause(2)
}

async function put(document: object): Promise<void> {
  const revision = server.parts.endpoints.find('digits')?.revision ?? 0
  const answer = await server.call('PUT', '/flexrack/v1/endpoints/digits', {body: {revision, document}})
  expect(answer.status).toBe(200)
}

async function keyOf(client: string): Promise<string> {
  const body = {kind: 'endpoint', endpoint: 'digits', client, ttl_seconds: 60}
  return ((await (await server.call('POST', '/flexrack/v1/tokens', {body})).json()) as {token: string}).token
}

/** A server that answers when it is told to. */
async function startHeld(): Promise<{url: string; asked: string[]; answer(): Promise<void>}> {
  const held: (() => void)[] = []
  const asked: string[] = []
  const target = await startTarget('held', ((incoming, response) => {
    asked.push(String(incoming.headers['x-name']))
    held.push(() => response.end('{}'))
  }) satisfies Answer)
  const answer = async (): Promise<void> => {
    while (held.length === 0) await pause(2)
    held.shift()!()
  }
  return {url: target.url, asked, answer}
}

describe('a server that has as much as it may', () => {
  test('gets the next request when one has ended, and clients take turns', async () => {
    const held = await startHeld()
    await put({active: {targets: [held.url]}, queue: {concurrency: 1}})
    const [heavy, light] = [await keyOf('heavy'), await keyOf('light')]
    const answers = [infer({'x-name': 'h0'}, heavy)]
    await becomes(1, 0)
    for (let index = 1; index <= 3; index++) {
      answers.push(infer({'x-name': `h${index}`}, heavy))
      await becomes(1, index)
    }
    answers.push(infer({'x-name': 'l0'}, light))
    await becomes(1, 4)
    for (let left = 4; left >= 0; left--) {
      await held.answer()
      await becomes(left === 0 ? 0 : 1, Math.max(0, left - 1))
    }
    expect((await Promise.all(answers)).map(({status}) => status)).toEqual([200, 200, 200, 200, 200])
    expect(held.asked).toEqual(['h0', 'l0', 'h1', 'h2', 'h3'])
  })

  test('a full queue is 429 with Retry-After; age and deadline are 504, and such a request is not sent', async () => {
    const held = await startHeld()
    const rules = (more: object): Promise<void> =>
      put({active: {targets: [held.url]}, queue: {concurrency: 1, seconds: 60, ...more}})
    await rules({requests: 1})
    const first = infer({'x-name': 'first'})
    await becomes(1, 0)
    const waits = infer({'x-name': 'waits'})
    await becomes(1, 1)
    const full = await infer({'x-name': 'full'})
    expect([full.status, full.headers.get('retry-after')]).toEqual([429, '1'])
    await rules({requests: 2, seconds: 0.05})
    expect((await infer({'x-name': 'old'})).status).toBe(504)
    await rules({requests: 2})
    const late = await infer({'x-name': 'late', 'x-envoy-expected-rq-timeout-ms': '50'})
    expect([late.status, await late.json()]).toEqual([
      504,
      {error: expect.stringContaining('deadline'), code: 'TIMED_OUT'},
    ])
    await held.answer()
    await held.answer()
    expect([(await first).status, (await waits).status]).toEqual([200, 200])
    await becomes(0, 0)
    expect(held.asked).toEqual(['first', 'waits'])
  })

  test('who goes away while it waits, or whose key is revoked, leaves the queue', async () => {
    const held = await startHeld()
    await put({active: {targets: [held.url]}, queue: {concurrency: 1}})
    const key = await keyOf('team')
    const first = infer({'x-name': 'first'})
    await becomes(1, 0)
    const revoked = infer({'x-name': 'revoked'}, key)
    await becomes(1, 1)
    const leaves = request(server.url + INFER, {method: 'POST', headers: {authorization: `Bearer ${server.admin}`}})
    leaves.on('error', () => {}).end('{}')
    await becomes(1, 2)
    leaves.destroy()
    await becomes(1, 1)
    await server.call('DELETE', '/flexrack/v1/endpoints/digits/keys/team')
    expect((await revoked).status).toBe(401)
    await becomes(1, 0)
    await held.answer()
    expect((await first).status).toBe(200)
    expect(held.asked).toEqual(['first'])
  })
})

test('an endpoint without servers whose document says that one is started holds requests until it is there', async () => {
  await put({active: {targets: [], startSeconds: 1}})
  const told: string[] = []
  server.parts.queues.whenWaiting((name) => told.push(name))
  const waiting = [infer(), infer()]
  await becomes(0, 2)
  expect(told).toEqual(['digits', 'digits'])
  await put({active: {targets: [(await startTarget('started')).url], startSeconds: 1}})
  expect((await Promise.all(waiting)).map(({status}) => status)).toEqual([200, 200])
  await put({active: {targets: []}})
  expect((await infer()).status).toBe(503)
})

test('a deadline is passed on shorter, ends the work of a server that does not answer, and must be one', async () => {
  const seen: string[] = []
  const closed: Promise<unknown>[] = []
  const target = await startTarget('never', (incoming, response) => {
    seen.push(String(incoming.headers['x-envoy-expected-rq-timeout-ms']))
    closed.push(once(response, 'close'))
  })
  await put({active: {targets: [target.url]}})
  const answer = await infer({'x-envoy-expected-rq-timeout-ms': '2000'})
  expect([answer.status, await answer.json()]).toMatchObject([504, {error: expect.stringContaining('deadline')}])
  expect(Number(seen[0])).toBeLessThanOrEqual(2000)
  await Promise.all(closed)
  expect((await infer({'x-envoy-expected-rq-timeout-ms': 'soon'})).status).toBe(400)
})

test('a silent server ends with 504 what has no deadline; one that its caller gives goes before that', async () => {
  const {url, asked, answer} = await startHeld()
  await put({active: {targets: [url]}, queue: {answer: 1}})
  const patient = infer({'x-name': 'patient', 'x-envoy-expected-rq-timeout-ms': '600000'})
  while (asked.length === 0) await pause(2)
  const silent = await infer({'x-name': 'silent'})
  expect([silent.status, await silent.json()]).toMatchObject([504, {error: expect.stringContaining('in 1 s')}])
  await answer()
  expect((await patient).status).toBe(200)
})

test('a server that breaks its connections is taken out, its callers are answered by the other, and it is shown', async () => {
  let asked = 0
  const bad = await startTarget('bad', (incoming) => (asked++, incoming.socket.destroy()))
  const good = await startTarget('good')
  await put({active: {targets: [bad.url, good.url]}})
  const names = []
  for (let count = 0; count < 12; count++) names.push(((await (await infer()).json()) as {name: string}).name)
  expect([new Set(names), asked]).toEqual([new Set(['good']), 5])
  const shown = (await (await server.call('GET', '/flexrack/v1/endpoints/digits')).json()) as {queue: object}
  expect(shown.queue).toMatchObject({inFlight: 0, queued: 0, retries: 5, ejected: [bad.url], down: []})
  const metrics = await (await server.call('GET', '/flexrack/v1/metrics')).text()
  for (const line of ['ejections_total 1', 'retries_total{endpoint="digits"} 5', 'queue_depth{endpoint="digits"} 0'])
    expect(metrics).toContain(`flexrack_gateway_${line}\n`)
  const told = await readFile(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')
  const types = [...metrics.matchAll(/^# TYPE flexrack_gateway_(\w+) (\w+)$/gm)].map(
    ([, name, type]) => `\`${name}\` | ${type}`,
  )
  expect(types.filter((one) => !told.includes(`| ${one} |`))).toEqual([])
  expect(types.length).toBe([...told.matchAll(/^\| `/gm)].length)
})

test('what was under way at a machine that has gone without a word is answered by the other server', async () => {
  const gone = await startTarget('gone', () => {}) // its connections stay, and nothing comes
  const good = await startTarget('good')
  const {health} = server.parts
  // No machine can be cut off here: what a connection to there would say is said in its place.
  const pulse = new Pulse(
    (target) => health.refused(target),
    async (target) => target !== gone.url,
  )
  Object.assign(health, {pulse})
  await put({active: {targets: [gone.url, good.url]}})
  const answers = await Promise.all(Array.from({length: 6}, () => infer()))
  const names = await Promise.all(answers.map(async (answer) => ((await answer.json()) as {name: string}).name))
  expect(names).toEqual(Array.from({length: 6}, () => 'good'))
  const shown = (await (await server.call('GET', '/flexrack/v1/endpoints/digits')).json()) as {queue: {retries: number}}
  expect(shown.queue.retries).toBeGreaterThanOrEqual(1)
})
