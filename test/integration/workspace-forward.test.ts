import {once} from 'node:events'
import {existsSync, readFileSync} from 'node:fs'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {createServer, connect, type AddressInfo, type Server} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import {ensureEnvironment, openHost} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import type {RackNode} from '../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {
  findWorkspaces,
  keepForwards,
  upWorkspace,
  workspaceScript,
  type ForwardEvent,
} from '../../src/lib/workspace/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'
import {startTcpRelay, type TcpRelay} from '../support/tcp-relay.ts'

let sshd: TestSshd
let relay: TcpRelay
let service: Server
let folder: string
let context: Context
let fleet: Fleet
let node: RackNode

beforeAll(async () => {
  sshd = await startSshd()
  relay = await startTcpRelay(sshd.port)
  service = createServer((socket) => socket.end('from the node')).listen(0, '127.0.0.1')
  await once(service, 'listening')
  folder = await mkdtemp(join(tmpdir(), 'flexrack-forward-'))
  context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}})
  const knownHosts = join(folder, 'known_hosts')
  await writeFile(knownHosts, readFileSync(sshd.knownHosts, 'utf8').replaceAll(`:${sshd.port} `, `:${relay.port} `))
  node = {
    ...sshd.target('real', {port: relay.port, knownHosts}),
    root: '~/.flexrack',
    environments: await sharedEnvironments(),
    labels: {},
  }
  fleet = openFleet([node], context)
})

afterAll(async () => {
  await fleet?.close()
  service?.close()
  await relay?.stop()
  await sshd?.stop()
  await rm(folder, {recursive: true, force: true})
})

function read(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    connect(port, '127.0.0.1')
      .on('data', (data) => (text += String(data)))
      .on('end', () => resolve(text))
      .on('error', reject)
  })
}

/** Forwards until stop(), with the events as they come. */
function start(ports: Parameters<typeof keepForwards>[1]): {
  next: (name: ForwardEvent['event']) => Promise<ForwardEvent>
  stop: () => Promise<void>
} {
  const abort = new AbortController()
  const events: ForwardEvent[] = []
  let wake = (): void => {}
  const ended = keepForwards(
    () => fleet.shell('real'),
    ports,
    (event) => {
      events.push(event)
      wake()
    },
    makeContext({signal: abort.signal}),
  )
  ended.catch(() => wake())
  return {
    next: async (name) => {
      for (;;) {
        const at = events.findIndex((event) => event.event === name)
        if (at >= 0) return events.splice(0, at + 1).at(-1) as ForwardEvent
        await Promise.race([
          new Promise<void>((resolve) => (wake = resolve)),
          ended.then(() => Promise.reject(new Error('ended'))),
        ])
      }
    },
    stop: async () => {
      abort.abort()
      await ended
    },
  }
}

test('a forward is there again at the same local port after the connection was cut', async () => {
  const remotePort = (service.address() as AddressInfo).port
  const forward = start([{remotePort}])
  const open = await forward.next('open')
  const port = open.event === 'open' ? open.localPort : 0
  expect(await read(port)).toBe('from the node')
  relay.cut()
  await forward.next('lost')
  expect(await forward.next('back')).toMatchObject({node: 'real', gapSeconds: expect.any(Number)})
  expect(await read(port)).toBe('from the node')
  await forward.stop()
  await expect(read(port)).rejects.toMatchObject({code: 'ECONNREFUSED'})
})

test('a local port that is taken is told, and nothing stays open', async () => {
  const taken = (service.address() as AddressInfo).port
  const shell = (): ReturnType<Fleet['shell']> => fleet.shell('real')
  await expect(
    keepForwards(shell, [{remotePort: 1}, {localPort: taken, remotePort: 2}], () => {}, context),
  ).rejects.toMatchObject({code: 'CONFLICT', details: {port: taken}, hint: expect.stringContaining('forward 0:2')})
})

test('a workspace works the same on a real OpenSSH server', async () => {
  const project = join(folder, 'project')
  await mkdir(join(project, 'sub'), {recursive: true})
  await writeFile(join(project, 'sub/a.py'), 'print("from the workspace")\n')
  const manifest: Manifest = {
    path: join(project, 'flexrack.yaml'),
    folder: project,
    name: 'real',
    workspace: {exclude: [], forward: [], env: {}},
    tracking: {experiment: 'real'},
    endpoints: {},
  }
  const host = await openHost(fleet, node, context)
  await upWorkspace([host], manifest, context)
  const [workspace] = await findWorkspaces(host, 'real', context)
  if (!workspace) throw new Error('no workspace')
  const {script, env} = workspaceScript(workspace, {}, ['python', 'sub/a.py'])
  expect(await host.shell.run(script, {env})).toBe('from the workspace\n')
})

test('an interrupted command ends the build on a real server, and leaves nothing of it', async () => {
  const building = join(folder, 'building')
  const source = join(folder, 'source')
  await mkdir(source)
  await writeFile(
    join(source, 'pyproject.toml'),
    "[build-system]\nrequires = []\nbuild-backend = 'slow'\nbackend-path = ['.']\n",
  )
  await writeFile(
    join(source, 'slow.py'),
    `import os, time\nopen(${JSON.stringify(building)}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n`,
  )
  const host = await openHost(fleet, {...node, environments: join(folder, 'environments')}, context)
  const stop = new AbortController()
  const built = ensureEnvironment(host, {requirements: `${source}\n`}, makeContext({signal: stop.signal}))
  built.catch(() => {})
  while (!existsSync(building) || readFileSync(building, 'utf8') === '') await setTimeout(20)
  stop.abort()
  await expect(built).rejects.toMatchObject({code: 'INTERRUPTED'})
  expect(await host.call('environment.list', null)).toEqual([])
  expect(existsSync(`/proc/${readFileSync(building, 'utf8')}/exe`)).toBe(false)
})
