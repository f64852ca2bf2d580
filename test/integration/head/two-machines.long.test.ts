import {spawn} from 'node:child_process'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext, type Context} from '../../../src/lib/base/index.ts'
import {openEndpoints, type Endpoints} from '../../../src/lib/endpoint/index.ts'
import {openTracking, startHead, stopHead, type HeadStatus, type Tracking} from '../../../src/lib/head/index.ts'
import {headRequirements} from '../../../src/lib/head/requirements.ts'
import {openHost, serviceStatus} from '../../../src/lib/host/index.ts'
import {modelsOf} from '../../../src/lib/model/index.ts'
import {loadRack, saveRack} from '../../../src/lib/rack/index.ts'
import {loadRecipe} from '../../../src/lib/recipe/index.ts'
import {openFleet, type Fleet} from '../../../src/lib/ssh/index.ts'
import {buildEnvironments} from '../../support/built-environments.ts'
import {sharedEnvironments} from '../../support/environments.ts'
import {finishedRun} from '../../support/finished-run.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../../support/net-rack.ts'
import {addModel} from '../../support/onnx.ts'
import {until} from '../../support/two-heads.ts'

const LOAD = fileURLToPath(new URL('../../fixtures/two-heads-load.mjs', import.meta.url))

// Three machines with a network between them: the head, its standby, and the one from which requests come. Real MLServer.
describe.skipIf(!mayMakeNetworks())('two heads on two machines', () => {
  let net: TestNetRack
  let fleet: Fleet
  let context: Context
  let status: HeadStatus
  let tracking: Tracking
  let endpoints: Endpoints

  beforeAll(async () => {
    await buildEnvironments([headRequirements({}), (await loadRecipe('onnx', process.env)).requirements])
    net = await startNetRack(3, await sharedEnvironments())
    delete net.rack.head.bind
    net.rack.head.standby = 'node-2'
    await saveRack(net.rack)
    context = makeContext({env: {...process.env, FLEXRACK_HOME: join(net.rack.path, '../home')}})
    fleet = openFleet(net.rack.nodes, context)
    status = await startHead(net.rack, fleet, context)
    tracking = await openTracking({rack: net.rack, fleet}, context)
    endpoints = await openEndpoints({rack: net.rack, fleet}, context)
    await finishedRun(tracking, 'tiny-one', {'model.onnx': addModel(1)})
    const models = modelsOf(tracking.mlflow, context)
    await models.register(await models.findRegistration({name: 'tiny', run: 'tiny-one', alias: 'production'}))
  }, 600_000)
  afterAll(async () => {
    await endpoints?.close()
    await tracking?.close()
    if (net && fleet) await stopHead(net.rack, fleet, context).catch(() => {})
    await fleet?.close()
    await net?.stop()
  }, 120_000)

  /** Load from the third machine; gives what came of it when it is ended. */
  async function load(): Promise<{
    more(count: number): Promise<void>
    end(): Promise<{answered: number; switched: number; lost: string[]}>
  }> {
    const shown = await endpoints.show('tiny')
    const key = await endpoints.keys.add('tiny', {client: `load-${Date.now()}`, seconds: 3600})
    const input = {
      urls: [shown.url, shown.standbyUrl].map((url) => `${url}/v2/models/tiny/infer`),
      ca: await readFile(shown.certificates!, 'utf8'),
      token: key.key.reveal(),
      workers: 4,
      body: JSON.stringify({inputs: [{name: 'x', shape: [1, 4], datatype: 'FP32', data: [1, 1, 1, 1]}]}),
    }
    const namespace = net.inside('node-3', 'ip', 'netns', 'identify').trim()
    const child = spawn('ip', ['netns', 'exec', namespace, process.execPath, LOAD], {
      env: {...process.env, LOAD: JSON.stringify(input)},
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let answered = 0
    let last = ''
    const lines = createInterface({input: child.stdout}).on('line', (line) => {
      last = line
      answered = Number(line) || answered
    })
    return {
      more: async (count) => {
        const goal = answered + count
        await until(async () => (answered >= goal ? true : undefined))
      },
      end: async () => {
        const closed = new Promise((resolve) => lines.once('close', resolve))
        child.stdin.end()
        await closed
        return JSON.parse(last) as {answered: number; switched: number; lost: string[]}
      },
    }
  }

  test('servers have fronts that let both gateways in, also on the machines of the heads', async () => {
    expect(status.standby).toMatchObject({state: 'running', following: {state: 'following', unreached: []}})
    await endpoints.deploy({name: 'tiny', on: 'node-1,node-2', replicas: 2})
    const shown = await endpoints.show('tiny')
    for (const {node, url} of shown.servers) expect(url).toMatch(new RegExp(`^https://${net.addresses[node]}:`))
    expect(shown.standbyUrl).toMatch(new RegExp(`^https://${net.addresses['node-2']}:`))
  })

  test('under load: the head killed with -9, back again, a deploy, the machine of the head lost: 0 requests lost', async () => {
    const traffic = await load()
    await traffic.more(200)
    const host = await openHost(fleet, net.rack.nodes[0]!, context)
    const {pid} = await serviceStatus(host, 'head')
    process.kill(pid!, 'SIGKILL')
    await traffic.more(200)
    await until(async () => ((await serviceStatus(host, 'head')).pid !== pid ? true : undefined))
    await startHead(net.rack, fleet, context) // until tracking is ready, too
    await traffic.more(200)
    await endpoints.deploy({name: 'tiny', on: 'node-1,node-2', replicas: 2, force: true})
    await traffic.more(200)
    net.link('node-1', 'down')
    await traffic.more(100)
    const {answered, switched, lost} = await traffic.end()
    console.log(`two machines: ${answered} answered, ${switched} by the other head, ${lost.length} lost`)
    expect(lost).toEqual([])
    expect(switched).toBeGreaterThan(0)
  }, 300_000)

  test('the machine of the head is lost for good: the standby is promoted, and goes on serving by its old certificate', async () => {
    await startHead(net.rack, fleet, context, {promote: true})
    const rack = await loadRack(net.rack.path, process.env)
    expect(rack.head).toMatchObject({node: 'node-2', standby: 'node-1'})
    const promoted = await openEndpoints({rack, fleet}, context)
    expect(await promoted.show('tiny')).toMatchObject({
      state: 'serving',
      url: expect.stringContaining(net.addresses['node-2']!),
    })
    await promoted.close()
    net.link('node-1', 'up')
    net.rack.head = rack.head
  }, 300_000)
})
