import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import type {AgentAnswer} from '../../../../../src/lib/protocol/index.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'

let head: TestServer
let model: Server
let url: string
let node: string

beforeEach(async () => {
  head = await openTestServer()
  model = createServer((request, response) => {
    request.resume()
    response.end('{}')
  })
  await new Promise<void>((done) => model.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(model.address() as AddressInfo).port}`
  const made = await head.call('POST', '/flexrack/v1/tokens', {body: {kind: 'node', node: 'a'}})
  node = ((await made.json()) as {token: string}).token
})

afterEach(async () => {
  model.close()
  model.closeAllConnections()
  await head.close()
})

const place = (service: string, at: string, port: string): object => ({service, node: at, url: port})
const scaling = (changes: object = {}): object => ({
  min: 0,
  max: 2,
  target: 1,
  idle: 600,
  down: 300,
  longestStart: 60,
  places: [place('endpoint-m-r1-0', 'a', url), place('endpoint-m-r1-1', 'b', 'http://127.0.0.1:1')],
  ...changes,
})
const deploy = (targets: string[], rules = scaling(), revision = 0): Promise<Response> =>
  head.call('PUT', '/flexrack/v1/endpoints/m', {
    body: {revision, document: {active: {release: 'r1', targets, scaling: rules, startSeconds: 1}}},
  })
const ask = async (question: object = {}, token = node): Promise<AgentAnswer> => {
  const body = {seen: null, wait: 0, services: {}, ca: null, ...question}
  return (await (await head.call('POST', '/flexrack/v1/agent', {body, token})).json()) as AgentAnswer
}
const figures = async (): Promise<{state: string; ready: number; wanted: number; wakes: number}> =>
  ((await (await head.call('GET', '/flexrack/v1/endpoints/m')).json()) as {scaling: never}).scaling

test("a node's token opens that one question, of its own node, and nothing else", async () => {
  expect((await deploy([])).status).toBe(200)
  expect((await ask()).places).toEqual([{service: 'endpoint-m-r1-0', on: false}])
  for (const [method, path] of [
    ['GET', '/flexrack/v1/endpoints/m'],
    ['PUT', '/flexrack/v1/endpoints/m'],
    ['POST', '/flexrack/v1/tokens'],
    ['DELETE', '/flexrack/v1/tokens/self'],
    ['DELETE', '/flexrack/v1/agents/a'],
    ['POST', '/endpoints/m/v2/models/m/infer'],
    ['GET', '/api/2.0/mlflow/experiments/search'],
  ] as const)
    expect((await head.call(method, path, {token: node})).status, path).toBe(403)
  const asked = (token: string): Promise<Response> => head.call('POST', '/flexrack/v1/agent', {body: {}, token})
  expect((await asked(head.admin)).status).toBe(403)
  expect((await asked('node.x.y')).status).toBe(401)
  await head.call('DELETE', '/flexrack/v1/agents/a')
  expect((await asked(node)).status).toBe(401)
})

test('a new token for a node ends the one before it', async () => {
  const other = await head.call('POST', '/flexrack/v1/tokens', {body: {kind: 'node', node: 'a'}})
  const {token} = (await other.json()) as {token: string}
  expect((await ask({}, token)).places).toEqual([])
  expect((await head.call('POST', '/flexrack/v1/agent', {body: {}, token: node})).status).toBe(401)
})

test('a request that finds no server has one started where an agent asks, waits for it, and is answered', async () => {
  await deploy([])
  const {seen} = await ask()
  const held = ask({seen, wait: 10})
  const health = await head.call('GET', '/endpoints/m/health')
  expect(await health.json()).toEqual({ready: true})
  expect(await figures()).toMatchObject({state: 'asleep', wanted: 0}) // health wakes nobody
  const request = head.call('POST', '/endpoints/m/v2/models/m/infer', {body: {}})
  expect((await held).places).toEqual([{service: 'endpoint-m-r1-0', on: true}])
  expect(await figures()).toMatchObject({state: 'waking', wanted: 1, wakes: 1})
  head.parts.scaler.tick() // main.ts has a clock for that
  expect((await request).status).toBe(200)
  expect(await figures()).toMatchObject({state: 'awake', ready: 1})
})

test('a question is held until there is another answer, and a node that hangs up is let go', async () => {
  await deploy([url])
  const {seen, places} = await ask()
  expect(places).toEqual([{service: 'endpoint-m-r1-0', on: true}])
  const gone = new AbortController()
  const left = fetch(`${head.url}/flexrack/v1/agent`, {
    method: 'POST',
    headers: {authorization: `Bearer ${node}`},
    body: JSON.stringify({seen, wait: 10}),
    signal: gone.signal,
  }).catch(() => 'left')
  gone.abort()
  expect(await left).toBe('left')
  const held = ask({seen, wait: 10})
  expect((await head.call('DELETE', '/flexrack/v1/endpoints/m')).status).toBe(200)
  expect((await held).places).toEqual([])
})

test('an agent whose token ends while its question is held is told nothing', async () => {
  await deploy([url])
  const {seen} = await ask()
  const hears = vi.spyOn(head.parts.scaler.agents, 'hears')
  const held = head.call('POST', '/flexrack/v1/agent', {body: {seen, wait: 10}, token: node})
  await expect.poll(() => hears.mock.calls.length).toBe(2) // as it comes, and as it is held
  await head.call('DELETE', '/flexrack/v1/agents/a')
  await head.call('DELETE', '/flexrack/v1/endpoints/m')
  expect((await held).status).toBe(401)
})

test('what a head that starts again finds running goes on', async () => {
  await deploy([])
  await ask()
  const request = head.call('POST', '/endpoints/m/v2/models/m/infer', {body: {}})
  await expect.poll(async () => (await figures()).wanted).toBe(1)
  head.parts.scaler.tick()
  await request
  const again = await openTestServer(undefined, {folder: head.folder})
  try {
    expect(again.parts.scaler.figures('m')).toMatchObject({state: 'awake', ready: 1, wanted: 1, wakes: 1})
    expect((await again.call('POST', '/endpoints/m/v2/models/m/infer', {body: {}})).status).toBe(200)
  } finally {
    await again.close()
  }
})

test('another range keeps what runs; another release begins with what its deploy started', async () => {
  await deploy([url])
  expect((await deploy([], scaling({max: 1}), 1)).status).toBe(200)
  expect(await figures()).toMatchObject({state: 'awake', ready: 1})
  const active = {release: 'r2', targets: [], scaling: scaling(), startSeconds: 1}
  await head.call('PUT', '/flexrack/v1/endpoints/m', {body: {revision: 2, document: {active}}})
  expect(await figures()).toMatchObject({state: 'asleep', ready: 0})
})

test('what cannot be meant is refused', async () => {
  const two = [place('x', 'a', url), place('x', 'a', url)]
  for (const changes of [
    {min: -1},
    {min: 3},
    {max: 0},
    {max: 1.5},
    {max: 3},
    {target: 0},
    {idle: '5'},
    {down: -1},
    {places: 'x'},
    {places: [{service: '../x', node: 'a', url}, place('y', 'a', url)]},
    {places: [place('x', 'a', 'file:///x'), place('y', 'a', url)]},
    {places: two},
  ])
    expect((await deploy([], scaling(changes))).status, JSON.stringify(changes)).toBe(400)
})

test('a question of a foreign shape does no harm', async () => {
  await deploy([])
  for (const services of [null, [], 'x', {'endpoint-m-r1-0': null}, {'endpoint-m-r1-0': {state: 1}}, {__proto__: {}}])
    expect((await ask({services})).places).toHaveLength(1)
  const huge = 'x'.repeat(300_000)
  expect((await head.call('POST', '/flexrack/v1/agent', {body: {seen: huge}, token: node})).status).toBe(413)
})
