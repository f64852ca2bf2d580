import {execFileSync} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm} from 'node:fs/promises'
import {createServer, type Server} from 'node:net'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, silentReporter, type Context} from '../../../src/lib/base/index.ts'
import {openEndpoints, type Endpoints, type TensorAnswer} from '../../../src/lib/endpoint/index.ts'
import {openGpus} from '../../../src/lib/gpu/index.ts'
import {connectHead, openTracking, startHead} from '../../../src/lib/head/index.ts'
import {modelsOf} from '../../../src/lib/model/index.ts'
import {checkReboot} from '../../../src/lib/project/check-reboot.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../../src/lib/ssh/index.ts'
import {finishedRun} from '../../support/finished-run.ts'
import {addModel} from '../../support/onnx.ts'
import {startRebootable, whyNotRebootable, type RebootableNode} from '../../support/rebootable.ts'

/** Builds the GPU daemon and the environment of a model server. */
const LONG = 1_800_000
const whyNot = whyNotRebootable()
if (whyNot) console.warn(`skipped: ${whyNot}`)

let machine: RebootableNode
let folder: string
let fleet: Fleet
let rack: Rack
let context: Context
let taker: Server | undefined
const warned: string[] = []

beforeAll(async () => {
  if (whyNot) return
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../../../scripts/build-native.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  machine = await startRebootable()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-reboot-'))
  context = makeContext({
    env: {...process.env, FLEXRACK_HOME: folder},
    reporter: {...silentReporter, warn: (text) => warned.push(text)},
  })
  rack = {name: 'lab', path: join(folder, 'lab.yaml'), nodes: [machine.node], head: {node: 'node', bind: '127.0.0.1'}}
  fleet = openFleet(rack.nodes, context)
}, LONG)
afterAll(async () => {
  taker?.close()
  await fleet?.close()
  await machine?.stop()
  if (folder) await rm(folder, {recursive: true, force: true})
}, LONG)

/** Until it gives something; the last error is told where it never does. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  let last: unknown
  for (const end = Date.now() + LONG / 2; Date.now() < end; await sleep(500)) {
    const found = await look().catch((error: unknown) => void (last = error))
    if (found !== undefined) return found
  }
  throw new Error('it did not come back', {cause: last})
}

async function withEndpoints<T>(use: (endpoints: Endpoints) => Promise<T>): Promise<T> {
  const endpoints = await openEndpoints({rack, fleet}, context)
  try {
    return await use(endpoints)
  } finally {
    await endpoints.close()
  }
}

const predict = async (): Promise<unknown> =>
  withEndpoints(
    async (endpoints) =>
      ((await endpoints.invoke({name: 'tiny', file: '--data', bytes: Buffer.from('[[1, 2, 3, 4]]')})) as TensorAnswer)
        .outputs[0]?.data,
  )
const devices = async (): Promise<string[]> =>
  (await openGpus({rack, fleet}, context).read(rack.nodes)).devices.map(({name}) => name)
const portOfHead = async (): Promise<number> => {
  const connection = await connectHead(rack, fleet, context)
  try {
    return (await connection.request<{port: number}>('GET', '/flexrack/v1/status')).port
  } finally {
    await connection.close()
  }
}

test.skipIf(whyNot)(
  'a real MLServer and a real GPU daemon come back after a power cut, and so does the head where its port is taken: at another one',
  async () => {
    await startHead(rack, fleet, context)
    const tracking = await openTracking({rack, fleet}, context)
    await finishedRun(tracking, 'tiny-one', {'model.onnx': addModel(2)})
    const models = modelsOf(tracking.mlflow, context)
    await models.register(await models.findRegistration({name: 'tiny', run: 'tiny-one', alias: 'production'}))
    await tracking.close()
    await withEndpoints((endpoints) => endpoints.deploy({name: 'tiny'}))
    expect(await openGpus({rack, fleet}, context).serve(rack.nodes, {backend: 'sim'})).toMatchObject([
      {node: 'node', started: true, comes_back: {by: 'cron'}},
    ])
    const [answer, shared, port] = [await predict(), await devices(), await portOfHead()]
    expect([answer, shared.length]).toEqual([[3, 4, 5, 6], 1])
    expect(warned).toEqual([])
    await fleet.close()

    // What ran there ends a moment later.
    await machine.reboot(() =>
      until(async () => {
        taker = createServer().listen(port, '127.0.0.1')
        await once(taker, 'listening')
        return taker
      }),
    )

    fleet = openFleet(rack.nodes, context)
    expect(await until(predict)).toEqual(answer)
    expect(await until(async () => ((await devices()).length > 0 ? devices() : undefined))).toEqual(shared)
    expect(await portOfHead()).not.toBe(port)
    expect(await checkReboot(rack.nodes, fleet, context)).toEqual({findings: [], goOn: []})

    // What is stopped does not come back.
    await openGpus({rack, fleet}, context).stop(rack.nodes, false)
    await withEndpoints((endpoints) => endpoints.remove('tiny'))
    await fleet.close()
    await machine.reboot()
    fleet = openFleet(rack.nodes, context)
    await until(portOfHead)
    expect(await withEndpoints((endpoints) => endpoints.list())).toEqual([])
    expect(await devices()).toEqual([])
  },
  LONG,
)
