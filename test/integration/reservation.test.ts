import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, type CliError, type Context} from '../../src/lib/base/index.ts'
import {openHost, type Host} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {reserveGang, type GangReservation, type ReserveOptions} from '../../src/lib/reservation/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan, type TrainChoice, type Trained} from '../../src/lib/train/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'

/** Two real servers, each with a folder of reservations of its own: two nodes on one machine. */
let servers: TestSshd[]
let folder: string
let rack: Rack
let fleet: Fleet
let hosts: Host[]
let context: Context

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-reservation-'))
  const environments = await sharedEnvironments()
  servers = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const reservations = join(folder, name)
      await mkdir(reservations, {mode: 0o700})
      return startSshd({env: {FLEXRACK_RESERVATIONS: reservations}})
    }),
  )
  const nodes = servers.map((server, index) => ({
    ...server.target(index === 0 ? 'one' : 'two'),
    root: '~/.flexrack',
    environments,
    labels: {},
  }))
  rack = {name: 'real', path: join(folder, 'real.yaml'), nodes, head: {node: 'one', bind: '127.0.0.1'}}
  context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}})
  fleet = openFleet(nodes, context)
  hosts = await Promise.all(nodes.map((node) => openHost(fleet, node, context)))
})
afterAll(async () => {
  await fleet?.close()
  await Promise.all((servers ?? []).map((server) => server.stop()))
  await rm(folder, {recursive: true, force: true})
})

const wish = (lease: string) => ({lease, project: 'p', wants: {gpus: [], slots: 1, exclusive: true}})
const reserve = (lease: string, options: ReserveOptions = {}, on: Host[] = hosts): Promise<GangReservation> =>
  reserveGang(on, wish(lease), options, context)
const codeOf = (error: unknown): string => (error as CliError).code
/** Leases on every node. */
const held = async (): Promise<string[][]> =>
  Promise.all(
    hosts.map(async (host) => (await host.call('reservation.list', null)).reservations.map((one) => one.lease)),
  )

async function train(script: string, choice: Partial<TrainChoice>, onUp?: () => void): Promise<Trained> {
  await writeFile(join(folder, 'train.py'), script)
  const manifest: Manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'proj',
    workspace: {exclude: ['one', 'two', 'home', 'go'], forward: [], env: {}},
    train: {
      command: ['train.py'],
      launcher: 'plain',
      nodes: 2,
      processesPerNode: 1,
      restarts: 0,
      outputs: [],
      env: {},
      grace: 5,
    },
    tracking: {experiment: 'proj'},
    endpoints: {},
  }
  const place = {manifest, rack, fleet}
  const plan = await planTrain(place, {args: [], tracking: false, ...choice}, context)
  return runPlan(
    plan,
    place,
    {detach: false, onLines: (lines) => lines.some((line) => line.text === 'up') && onUp?.()},
    context,
  )
}

test('of gangs that race for the same nodes one gets all, and the others are told by whom, in every round', async () => {
  for (let round = 0; round < 4; round++) {
    // Half of them name the nodes in the other order: with no order for all, each would have one and wait for the
    // other.
    const requested = await Promise.allSettled(
      [0, 1, 2, 3].map((number) => reserve(`race-${round}-${number}`, {}, number % 2 ? hosts.toReversed() : hosts)),
    )
    const won = requested.flatMap((one, number) => (one.status === 'fulfilled' ? [{number, gang: one.value}] : []))
    expect(won).toHaveLength(1)
    const winner = `race-${round}-${won[0]?.number}`
    expect(await held()).toEqual([[winner], [winner]])
    for (const one of requested) {
      if (one.status === 'rejected')
        expect(one.reason).toMatchObject({
          code: 'RESERVED',
          details: {holders: expect.arrayContaining([expect.objectContaining({lease: winner})])},
        })
    }
    await won[0]?.gang.release()
  }
  expect(await held()).toEqual([[], []])
})

test('a train that needs the nodes for itself wins them whole; the other is told by whom, and gets them afterwards where it waits', async () => {
  const go = join(folder, 'go')
  const script = `import os, time\nprint("up", flush=True)\nwhile not os.path.exists(${JSON.stringify(go)}): time.sleep(0.02)\n`
  const up = Promise.withResolvers<void>()
  const first = train(script, {exclusive: true, name: 'first'}, () => up.resolve())
  await Promise.race([up.promise, first])
  const refused = await train(script, {name: 'second'}).catch((error: unknown) => error as CliError)
  expect(refused).toMatchObject({
    code: 'RESERVED',
    exitCode: 4,
    message: expect.stringMatching(/first-\w{5} of \S+ has the whole node since .*, until its run ends/),
  })
  await expect(train(script, {name: 'limited', wait: 0.5})).rejects.toMatchObject({code: 'TIMED_OUT'})

  const plan = await planTrain(
    {
      manifest: {
        path: '',
        folder,
        name: 'proj',
        workspace: {exclude: ['one', 'two', 'home', 'go'], forward: [], env: {}},
        train: {
          command: ['train.py'],
          launcher: 'plain',
          nodes: 2,
          processesPerNode: 1,
          restarts: 0,
          outputs: [],
          env: {},
          grace: 5,
        },
        tracking: {experiment: 'proj'},
        endpoints: {},
      },
      rack,
      fleet,
    },
    {args: [], tracking: false, look: true},
    context,
  )
  expect(plan.plan.steps.find((step) => step.kind === 'train.reserve')?.input.held).toMatchObject([
    {at: 'one', state: 'running'},
    {at: 'two', state: 'running'},
  ])

  const waiting = train(script, {exclusive: true, name: 'third', wait: Infinity})
  while (!(await held()).every((one) => one.length === 2)) await pause(50)
  await writeFile(go, '')
  expect((await first).status).toBe('finished')
  expect((await waiting).status).toBe('finished')
  expect(await held()).toEqual([[], []])
})

test('two runs that need no node for themselves go side by side', async () => {
  const script = `import os, time\nprint("up", flush=True)\nwhile not os.path.exists(${JSON.stringify(join(folder, 'both'))}): time.sleep(0.02)\n`
  const up = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const runs = up.map((one, index) => train(script, {name: `side-${index}`, shareGpus: true}, () => one.resolve()))
  await Promise.race([Promise.all(up.map((one) => one.promise)), ...runs])
  await writeFile(join(folder, 'both'), '')
  expect((await Promise.all(runs)).map((one) => one.status)).toEqual(['finished', 'finished'])
})

test('those who wait get the nodes in the order in which they came', async () => {
  const first = await reserve('line-first')
  const order: string[] = []
  const waiting: Promise<void>[] = []
  for (const lease of ['line-c', 'line-a', 'line-b']) {
    const before = (await held())[0]?.length ?? 0
    waiting.push(
      reserve(lease, {wait: Infinity}, lease === 'line-a' ? hosts.toReversed() : hosts).then(async (gang) => {
        order.push(lease)
        await gang.release()
      }),
    )
    while (!(await held()).every((one) => one.length > before)) await pause(20)
  }
  await expect(reserve('line-late')).rejects.toMatchObject({code: 'RESERVED'})
  await first.release()
  await Promise.all(waiting)
  expect(order).toEqual(['line-c', 'line-a', 'line-b'])
})

test('a node that cannot be asked, and Ctrl-C while waiting, leave nothing reserved', async () => {
  const gone = {
    ...(hosts[1] as Host),
    node: 'gone',
    call: async () => Promise.reject(new Error('no connection')),
  } as Host
  await expect(reserve('partial', {}, [hosts[0] as Host, gone])).rejects.toThrow('no connection')
  expect(await held()).toEqual([[], []])

  const first = await reserve('stopped-first')
  const interrupt = new AbortController()
  const waiting = reserveGang(hosts, wish('stopped-second'), {wait: Infinity}, {...context, signal: interrupt.signal})
  while (!(await held()).every((one) => one.length === 2)) await pause(20)
  interrupt.abort()
  expect(codeOf(await waiting.catch((error: unknown) => error))).toBe('INTERRUPTED')
  expect(await held()).toEqual([['stopped-first'], ['stopped-first']])
  await first.release()
})

test('what a command that was killed with SIGKILL has reserved is free again by itself', async () => {
  const source = resolve(import.meta.dirname, '../../src/lib')
  const script = `
    const [{openFleet}, {openHost}, {reserveGang}, {makeContext}] = await Promise.all(['ssh', 'host', 'reservation', 'base'].map((one) => import(${JSON.stringify(source)} + '/' + one + '/index.ts')))
    const nodes = JSON.parse(process.argv[1]), context = makeContext(), fleet = openFleet(nodes, context)
    const hosts = await Promise.all(nodes.map((node) => openHost(fleet, node, context)))
    await reserveGang(hosts, {lease: 'killed', project: 'p', wants: {gpus: [], slots: 1, exclusive: true}}, {}, context)
    console.log('reserved')
    setInterval(() => {}, 1000)
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(rack.nodes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: context.env,
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  await expect(reserve('early')).rejects.toMatchObject({
    code: 'RESERVED',
    message: expect.stringContaining('unless it is renewed'),
  })
  // Nobody frees it: only its time to live ends, 30 seconds after the last renewal.
  const gang = await reserve('later', {wait: 100})
  await gang.release()
})
