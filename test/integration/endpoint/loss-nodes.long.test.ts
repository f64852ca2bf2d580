import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext, type Context} from '../../../src/lib/base/index.ts'
import {openEndpoints, type Endpoints} from '../../../src/lib/endpoint/index.ts'
import {openTracking, startHead, stopHead, type Tracking} from '../../../src/lib/head/index.ts'
import {headRequirements} from '../../../src/lib/head/requirements.ts'
import {openHost} from '../../../src/lib/host/index.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {modelsOf} from '../../../src/lib/model/index.ts'
import {saveRack} from '../../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../../src/lib/ssh/index.ts'
import {buildEnvironments} from '../../support/built-environments.ts'
import {sharedEnvironments} from '../../support/environments.ts'
import {finishedRun} from '../../support/finished-run.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../../support/net-rack.ts'
import {lossText, startOpenLoad, type LoadReport, type OpenLoad} from '../../support/open-load.ts'
import {chosenSeed} from '../../support/property.ts'
import {SCALED_SERVER} from '../../support/scaled-server.ts'
import {until} from '../../support/two-heads.ts'

const COMMAND = 'python3 serve.py {model} {host} {port} {model_file}'
const MANIFEST = `
name: mixed
endpoints:
  mixed: {model: mixed, command: "${COMMAND}", replicas: 2}
  ranged: {model: mixed, command: "${COMMAND}", replicas: 2..4, scale: {target: 4, idle: 60, down: 30}}
`

// Four machines with a network between them: the head, two with model servers behind fronts, and one that sends requests.
describe.skipIf(!mayMakeNetworks())('model servers on machines that go away', () => {
  let net: TestNetRack
  let folder: string
  let fleet: Fleet
  let context: Context
  let tracking: Tracking
  let endpoints: Endpoints

  beforeAll(async () => {
    await buildEnvironments([headRequirements({})])
    folder = await mkdtemp(join(tmpdir(), 'flexrack-mixed-'))
    await writeFile(join(folder, 'serve.py'), SCALED_SERVER)
    await writeFile(join(folder, 'flexrack.yaml'), MANIFEST)
    net = await startNetRack(4, await sharedEnvironments())
    delete net.rack.head.bind
    await saveRack(net.rack)
    context = makeContext({env: {...process.env, FLEXRACK_HOME: join(net.rack.path, '../home')}})
    fleet = openFleet(net.rack.nodes, context)
    await startHead(net.rack, fleet, context)
    tracking = await openTracking({rack: net.rack, fleet}, context)
    endpoints = await openEndpoints({rack: net.rack, fleet, manifest: await loadManifest(folder)}, context)
    await finishedRun(tracking, 'one', {'number.txt': Buffer.from('1')})
    const models = modelsOf(tracking.mlflow, context)
    await models.register(await models.findRegistration({name: 'mixed', run: 'one', path: 'number.txt'}))
  }, 600_000)
  afterAll(async () => {
    await endpoints?.close()
    await tracking?.close()
    if (net && fleet) await stopHead(net.rack, fleet, context).catch(() => {})
    await fleet?.close()
    await net?.stop()
    await rm(folder, {recursive: true, force: true})
  }, 120_000)

  /** From the fourth machine. */
  async function under(name: string, work: (traffic: OpenLoad) => Promise<void>): Promise<LoadReport> {
    const shown = await endpoints.show(name)
    const key = await endpoints.keys.add(name, {client: `load-${Date.now()}`, seconds: 3600})
    const traffic = await startOpenLoad({
      urls: [`${shown.url}/v2/models/${name}/infer`],
      ca: await readFile(shown.certificates!, 'utf8'),
      token: key.key.reveal(),
      rate: 15,
      seed: chosenSeed(),
      takes: 100,
      inside: ['ip', 'netns', 'exec', net.inside('node-4', 'ip', 'netns', 'identify').trim()],
    })
    try {
      await work(traffic)
    } catch (error) {
      console.log(lossText('cut off', await traffic.end()))
      throw error
    }
    const report = await traffic.end()
    const {retries} = (await endpoints.show(name)).queue!
    console.log(lossText(name, report, `; ${retries} retried by the gateway`))
    return report
  }

  test('a machine with one of two servers is cut off under load, and comes back: 0 lost', async () => {
    await endpoints.deploy({name: 'mixed', on: 'node-2,node-3'})
    const report = await under('mixed', async (traffic) => {
      await traffic.more(60)
      net.link('node-2', 'down')
      await traffic.more(200)
      net.link('node-2', 'up')
      await traffic.more(100)
    })
    expect(report.lost).toEqual([])
  }, 300_000)

  test('where the head chooses, others are started for those that are lost: 0 lost', async () => {
    await endpoints.deploy({name: 'ranged', on: 'node-2,node-3'})
    const report = await under('ranged', async (traffic) => {
      await traffic.more(60)
      net.link('node-2', 'down')
      const readyOn3 = async (): Promise<true | undefined> => {
        const places = (await endpoints.show('ranged').catch(() => undefined))?.scaling?.places ?? []
        const there = places.filter(({node, state}) => node === 'node-3' && state === 'ready')
        return there.length >= 2 || undefined
      }
      await until(readyOn3, 120)
      await traffic.more(100)
      net.link('node-2', 'up')
      await traffic.more(100)
    })
    expect(report.lost).toEqual([])
  }, 400_000)

  test('a supervisor, with the front before its server, is killed with -9: 0 lost', async () => {
    const {servers} = await endpoints.show('mixed')
    const {node, service} = servers[0]!
    const host = await openHost(
      fleet,
      net.rack.nodes.find((one) => one.name === node)!,
      context,
    )
    const report = await under('mixed', async (traffic) => {
      await traffic.more(30)
      const state = JSON.parse(await readFile(join(host.root, 'services', service, 'state.json'), 'utf8')) as {
        supervisor: {pid: number}
      }
      process.kill(state.supervisor.pid, 'SIGKILL')
      await traffic.more(60)
      await sleep(2000)
      // Whoever looks at it next gives it a supervisor again, and its front.
      expect((await host.call('service.status', {id: service})).state).toBe('running')
      await traffic.more(30)
    })
    expect(report.lost).toEqual([])
  }, 300_000)
})
