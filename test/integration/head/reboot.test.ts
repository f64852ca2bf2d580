import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {connect} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, silentReporter, type Context} from '../../../src/lib/base/index.ts'
import {connectHead, planHead, startHead} from '../../../src/lib/head/index.ts'
import {openHost, serviceStatus, startService} from '../../../src/lib/host/index.ts'
import {checkReboot} from '../../../src/lib/project/check-reboot.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../../src/lib/ssh/index.ts'
import {openMlflow} from '../../../src/lib/tracking/index.ts'
import {unknownFiles} from '../../support/kept-files.ts'
import {startRebootable, whyNotRebootable, type RebootableNode} from '../../support/rebootable.ts'
import {freePort} from '../../support/sshd.ts'

const whyNot = whyNotRebootable()
if (whyNot) console.warn(`skipped: ${whyNot}`)

let machine: RebootableNode
let folder: string
let fleet: Fleet
let rack: Rack
let context: Context
const warned: string[] = []

beforeAll(async () => {
  if (whyNot) return
  machine = await startRebootable()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-reboot-'))
  context = makeContext({
    env: {...process.env, FLEXRACK_HOME: folder},
    reporter: {...silentReporter, warn: (text) => warned.push(text)},
  })
  rack = {name: 'lab', path: join(folder, 'lab.yaml'), nodes: [machine.node], head: {node: 'node', bind: '127.0.0.1'}}
  fleet = openFleet(rack.nodes, context)
})
afterAll(async () => {
  await fleet?.close()
  await machine?.stop()
  if (folder) await rm(folder, {recursive: true, force: true})
})

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

const listens = (port: number): Promise<true> =>
  new Promise((resolve, reject) => connect(port, '127.0.0.2', () => resolve(true)).once('error', reject))

test.skipIf(whyNot)(
  'head and the front of a server come back after a power cut, at their addresses, with what the head knew',
  async () => {
    const start = (await planHead(rack, fleet, context, 'start')).steps.find((step) => step.kind === 'head.start')
    expect(start?.title).toContain('have cron start it again after a reboot')
    const before = await startHead(rack, fleet, context)
    expect(warned).toEqual([])
    const connection = await connectHead(rack, fleet, context)
    const {id} = await openMlflow({uri: connection.uri, token: connection.token}).ensureExperiment('digits')
    const identity = await connection.request<{key: string; certificate: string; ca: string}>(
      'POST',
      '/flexrack/v1/certificates',
      {names: ['127.0.0.2']},
    )
    await connection.close()
    const host = await openHost(fleet, machine.node, context)
    const port = await freePort()
    await startService(host, {
      id: 'endpoint-digits-r1-0',
      argv: ['/bin/sleep', '600'],
      restart: {max: 3, windowSeconds: 60},
      front: {listen: ['127.0.0.2', port], to: ['127.0.0.1', port + 1], ...identity},
    })
    await until(() => listens(port))
    expect(await readFile(join(machine.home, '.flexrack', 'boot', 'resume'), 'utf8')).not.toContain('PRIVATE')
    await fleet.close()

    await machine.reboot()

    fleet = openFleet(rack.nodes, context)
    const again = await until(async () => {
      const found = await connectHead(rack, fleet, context)
      return (await openMlflow({uri: found.uri, token: found.token}).version()) ? found : undefined
    })
    expect((await openMlflow({uri: again.uri, token: again.token}).ensureExperiment('digits')).id).toBe(id)
    const status = await again.request<{port: number; pid: number}>('GET', '/flexrack/v1/status')
    expect(status.port).toBe(before.port)
    await again.close()
    await until(() => listens(port))
    expect(await serviceStatus(await openHost(fleet, machine.node, context), 'endpoint-digits-r1-0')).toMatchObject({
      state: 'running',
      restarts: 0,
    })
    expect(await checkReboot(rack.nodes, fleet, context)).toEqual({findings: [], goOn: []})
    expect(unknownFiles('NODE', join(machine.home, '.flexrack'))).toEqual([])
  },
)
