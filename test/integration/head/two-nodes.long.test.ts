import {readFile} from 'node:fs/promises'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {openEndpoints} from '../../../src/lib/endpoint/index.ts'
import {connectHead, headStatus, planHead, startHead, stopHead} from '../../../src/lib/head/index.ts'
import {swapped} from '../../../src/lib/head/promote.ts'
import {HEAD_HANDLERS, headEnv} from '../../../src/lib/head/steps.ts'
import {openHost, serviceStatus} from '../../../src/lib/host/index.ts'
import {executePlan, throwIfFailed} from '../../../src/lib/plan/index.ts'
import {loadRack, saveRack, type Rack} from '../../../src/lib/rack/index.ts'
import {sharedEnvironments} from '../../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../../support/local-rack.ts'
import {throughJson} from '../../support/through-json.ts'

// A real head with MLflow on one node, a standby on another, and the command line's way to both.
const METADATA = '{"inputs": [{"name": "x", "datatype": "FP32", "shape": [-1]}], "outputs": []}'
let local: TestLocalRack
let rack: Rack
const answering = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.setHeader('content-type', 'application/json').end(METADATA))
})

beforeAll(async () => {
  local = await startLocalRack({nodes: 2, environments: await sharedEnvironments()})
  rack = local.rack
  const [one, other] = rack.nodes.map((node) => node.name)
  rack = {...rack, head: {...rack.head, node: one!, standby: other!}}
  await saveRack(rack)
  rack = await loadRack(rack.path, process.env)
  await new Promise<void>((resolve) => answering.listen(0, '127.0.0.1', () => resolve()))
})
afterAll(async () => {
  answering.close()
  await local?.stop()
})

const document = (): object => ({
  name: 'digits',
  createdAt: new Date().toISOString(),
  active: {release: 'r1', targets: [`http://127.0.0.1:${(answering.address() as AddressInfo).port}`]},
  releases: [
    {id: 'r1', state: 'active', runtime: 'onnx', model: {name: 'digits', version: '1', files: []}, replicas: []},
  ],
})

test('head start brings both up, and run again changes nothing', async () => {
  const fleet = local.fleet()
  const plan = await planHead(rack, fleet, local.context(), 'start')
  expect(throughJson(plan)).toEqual(plan)
  expect(plan.steps.map((step) => step.id).filter((id) => /start|enrol/.test(id))).toEqual([
    'start',
    'standby:enrol',
    'standby:start',
  ])
  const status = await startHead(rack, fleet, local.context())
  expect(status).toMatchObject({state: 'running', standby: {state: 'running', following: {state: 'following'}}})
  const pid = async (): Promise<number | null> =>
    (await serviceStatus(await openHost(fleet, rack.nodes[1]!, local.context()), 'head')).pid
  const before = await pid()
  const again = await startHead(rack, fleet, local.context())
  expect([again.pid, await pid()]).toEqual([status.pid, before])
})

test('endpoints are shown and called through the standby while the head is stopped, and changed by nobody', async () => {
  const fleet = local.fleet()
  const head = await connectHead(rack, fleet, local.context())
  await head.request('PUT', '/flexrack/v1/endpoints/digits', {revision: 0, document: document()})
  await head.close()
  const both = await openEndpoints({rack, fleet}, local.context(), {looks: true})
  const shown = await both.show('digits')
  await both.close()
  const standby = (await headStatus(rack, fleet, local.context())).standby!
  expect(shown.standbyUrl).toBe(`${standby.url}/endpoints/digits`)
  expect(shown.url).not.toBe(shown.standbyUrl)
  await stopHead(rack, fleet, local.context(), {firstOnly: true})
  expect(await headStatus(rack, fleet, local.context())).toMatchObject({
    state: 'stopped',
    standby: {state: 'running', following: {state: 'away'}},
  })
  const looking = await openEndpoints({rack, fleet}, local.context(), {looks: true})
  expect(await looking.list()).toMatchObject([{name: 'digits', state: 'serving', url: shown.standbyUrl}])
  const body = Buffer.from('{"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [1]}]}')
  expect(await looking.invoke({name: 'digits', file: 'x.json', bytes: body})).toMatchObject({outputs: []})
  await expect(looking.keys.add('digits', {client: 'app', seconds: 60})).rejects.toMatchObject({
    message: expect.stringContaining(rack.head.node),
  })
  await looking.close()
  await expect(openEndpoints({rack, fleet}, local.context())).rejects.toMatchObject({code: 'NOT_FOUND'})
})

test('head promote makes the standby the head; the other one follows it when it is there again', async () => {
  const fleet = local.fleet()
  const plan = await planHead(rack, fleet, local.context(), 'promote')
  expect(throughJson(plan)).toEqual(plan)
  const status = await startHead(rack, fleet, local.context(), {promote: true})
  rack = await loadRack(rack.path, process.env)
  expect(status).toMatchObject({
    node: rack.nodes[1]!.name,
    state: 'running',
    endpoints: 1,
    standby: {node: rack.nodes[0]!.name, state: 'running', following: {state: 'following'}},
  })
  expect(rack.head).toMatchObject({node: rack.nodes[1]!.name, standby: rack.nodes[0]!.name})
  await expect(planHead(rack, fleet, local.context(), 'promote')).rejects.toMatchObject({code: 'CONFLICT'})
  const looking = await openEndpoints({rack, fleet}, local.context())
  expect(await looking.list()).toMatchObject([{name: 'digits', state: 'serving'}])
  expect((await looking.keys.add('digits', {client: 'app', seconds: 60})).standbyUrl).toContain('/endpoints/digits')
  await looking.close()
})

test('a head that comes back after a promotion steps down, whoever starts it; with an older rack file nothing else changes', async () => {
  const [fleet, context, older] = [local.fleet(), local.context(), rack]
  const pid = async (node: string): Promise<number | null> => {
    const place = rack.nodes.find((one) => one.name === node)!
    return (await serviceStatus(await openHost(fleet, place, context), 'head')).pid
  }
  await stopHead(rack, fleet, context, {firstOnly: true})
  // As where the old head's node is away: nobody has it follow.
  const plan = await planHead(rack, fleet, context, 'promote')
  throwIfFailed(await executePlan(plan, HEAD_HANDLERS, headEnv(swapped(rack), fleet, context), context))
  rack = await loadRack(rack.path, process.env)
  expect([rack.head.node, rack.head.standby]).toEqual([older.head.standby, older.head.node])
  const before = await pid(rack.head.node)
  await expect(startHead(older, fleet, context)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining(`${rack.head.node} (`),
    hint: expect.stringContaining('flexrack head promote'),
  })
  expect(await headStatus(older, fleet, context)).toMatchObject({
    state: 'superseded',
    superseded: {node: rack.head.node},
  })
  expect(await headStatus(rack, fleet, context)).toMatchObject({standby: {state: 'superseded'}})
  expect(await pid(rack.head.node)).toBe(before)
  // What took over is lost as well: the one that had stepped down is the head again.
  await stopHead(rack, fleet, context, {firstOnly: true})
  const status = await startHead(rack, fleet, context, {promote: true})
  rack = await loadRack(rack.path, process.env)
  expect(rack.head).toMatchObject({node: older.head.node, standby: older.head.standby})
  expect(status).toMatchObject({node: older.head.node, state: 'running', standby: {following: {state: 'following'}}})
  expect(status.superseded).toBeUndefined()
})

test('a rack file that names no standby any more ends it', async () => {
  const {standby: _, ...head} = rack.head
  const alone = {...rack, head}
  const fleet = local.fleet()
  const status = await startHead(alone, fleet, local.context())
  expect(status.standby).toBeUndefined()
  const former = await openHost(fleet, rack.nodes[0]!, local.context())
  expect((await serviceStatus(former, 'head')).state).toBe('stopped')
  expect(await readFile(join(former.root, 'head/followed.json'), 'utf8')).not.toBe('')
  await stopHead(alone, fleet, local.context())
})
