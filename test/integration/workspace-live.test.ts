import {appendFile, mkdir, mkdtemp, readFile, rename, rm, unlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {openHost} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import {openFleet} from '../../src/lib/ssh/index.ts'
import {LIVE_SYNC, type LiveEvent} from '../../src/lib/workspace/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {startTcpRelay} from '../support/tcp-relay.ts'

let rack: TestLocalRack
let folder: string
let relays: Awaited<ReturnType<typeof startTcpRelay>>[]

beforeAll(async () => {
  rack = await startLocalRack({nodes: 2})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-live-'))
  relays = await Promise.all(rack.rack.nodes.map((node) => startTcpRelay(node.port as number)))
})

afterAll(async () => {
  await Promise.all(relays.map((one) => one.stop()))
  await rack?.stop()
  await rm(folder, {recursive: true, force: true})
})

test("what is saved is on every node soon, in one change a save; editors' files and atomic renames are not seen, and a lost link is made up for", async () => {
  const context = rack.context()
  const nodes = await Promise.all(
    rack.rack.nodes.map(async (node, index) => {
      const {port} = relays[index] as (typeof relays)[number]
      const knownHosts = join(rack.home, `known_hosts-${node.name}`)
      await writeFile(
        knownHosts,
        (await readFile(node.knownHosts as string, 'utf8')).replaceAll(`]:${node.port} `, `]:${port} `),
      )
      return {...node, port, knownHosts}
    }),
  )
  const fleet = openFleet(nodes, context)
  const manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'live',
    workspace: {exclude: ['data/'], forward: [], env: {}},
    tracking: {experiment: 'live'},
    endpoints: {},
  } as unknown as Manifest
  await mkdir(join(folder, 'pkg'))
  await writeFile(join(folder, 'a.py'), '1')
  const events: LiveEvent[] = []
  const stop = new AbortController()
  const live = LIVE_SYNC.keep(
    nodes.map((node) => ({name: node.name, connect: () => openHost(fleet, node, context)})),
    manifest,
    {overwrite: false, onEvent: (event) => events.push(event)},
    {...context, signal: stop.signal},
  )
  live.catch((error: unknown) => events.push({event: 'unreadable', reason: String(error)}))
  const roots = await Promise.all(
    rack.rack.nodes.map(async (node) => (await openHost(rack.fleet(), node, context)).root),
  )
  const there = (path: string): Promise<string[]> =>
    Promise.all(
      roots.map((root) => readFile(join(root, 'workspaces/live/code', path), 'utf8').catch(() => 'not there')),
    )
  const soon = (path: string, text: string): Promise<void> =>
    vi.waitFor(async () => expect(await there(path)).toEqual([text, text]), {timeout: 60_000, interval: 10})
  const of = (kind: LiveEvent['event']): LiveEvent[] => events.filter((one) => one.event === kind)
  await vi.waitFor(() => expect(of('ready'), JSON.stringify(events)).toHaveLength(2), {timeout: 60_000})
  expect(await there('a.py')).toEqual(['1', '1'])

  await writeFile(join(folder, 'a.py'), '22') // in place
  await soon('a.py', '22')
  await writeFile(join(folder, 'pkg/new.py'), 'n') // in a folder that was empty
  await soon('pkg/new.py', 'n')
  await mkdir(join(folder, 'deep/er'), {recursive: true})
  await writeFile(join(folder, 'deep/er/b.py'), 'b')
  await soon('deep/er/b.py', 'b')

  // As Vim saves: a swap file, a backup by rename, the new content, the backup away.
  await writeFile(join(folder, '.a.py.swp'), 'swap')
  await rename(join(folder, 'a.py'), join(folder, 'a.py~'))
  await new Promise((resolve) => setTimeout(resolve, 60)) // longer than a look waits
  await writeFile(join(folder, 'a.py'), '333')
  await unlink(join(folder, 'a.py~'))
  await unlink(join(folder, '.a.py.swp'))
  await soon('a.py', '333')
  // As others do: written beside, and moved over it.
  await writeFile(join(folder, 'a.py___jb_tmp___'), '4444')
  await rename(join(folder, 'a.py___jb_tmp___'), join(folder, 'a.py'))
  await soon('a.py', '4444')
  await mkdir(join(folder, 'data'))
  await writeFile(join(folder, 'data/set.bin'), 'not for nodes')
  const synced = of('synced') as Extract<LiveEvent, {event: 'synced'}>[]
  expect(synced.flatMap((one) => one.removed)).toEqual([])
  expect([...new Set(synced.flatMap((one) => one.paths))].filter((path) => /swp|~|jb_|data/.test(path))).toEqual([])

  // Edited on one node, and here: named, and nothing is lost; the rest goes on.
  await writeFile(join(roots[0] as string, 'workspaces/live/code/a.py'), 'on the node')
  await writeFile(join(folder, 'a.py'), 'here')
  await writeFile(join(folder, 'other.py'), 'o')
  await soon('other.py', 'o')
  await vi.waitFor(async () => expect(await there('a.py')).toEqual(['on the node', 'here']), {timeout: 60_000})
  // Once for each look that met it: the two saves may be seen in one, or in two.
  expect(of('conflict').length).toBeGreaterThan(0)
  for (const one of of('conflict')) expect(one).toMatchObject({node: 'node-1', paths: ['a.py']})

  for (const relay of relays) relay.cut()
  await appendFile(join(folder, 'other.py'), 'o')
  await soon('other.py', 'oo')
  await unlink(join(folder, 'other.py'))
  await soon('other.py', 'not there')
  expect(of('back').length).toBeGreaterThan(0)
  stop.abort()
  await live
  await fleet.close()
})
