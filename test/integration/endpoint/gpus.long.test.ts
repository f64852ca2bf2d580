import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Endpoints} from '../../../src/lib/endpoint/index.ts'
import {openGpus, type Gpus} from '../../../src/lib/gpu/index.ts'
import {connectHead} from '../../../src/lib/head/index.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {DEVICE_SERVER} from '../../support/device-server.ts'

const MIB = 2 ** 20
const COMMAND = 'python3 serve.py {model} {host} {port}'
const MANIFEST = `
name: eyes
endpoints:
  eyes: {model: eyes, command: "${COMMAND}", replicas: 2, gpus: {memory: 64MiB}}
  ears: {model: eyes, command: "${COMMAND}", gpus: {memory: 32MiB}}
  far: {model: eyes, command: "${COMMAND}", gpus: {count: 2, fraction: 0.25, remote: true}}
  sleepy: {model: eyes, command: "${COMMAND}", replicas: 0..2, scale: {target: 1, idle: 2, down: 2}, gpus: 1}
`

let site: EndpointRack
let folder: string
let endpoints: Endpoints
let gpus: Gpus

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-eyes-'))
  await writeFile(join(folder, 'serve.py'), DEVICE_SERVER)
  await writeFile(join(folder, 'flexrack.yaml'), MANIFEST)
  site = await startEndpointRack({nodes: 2})
  gpus = openGpus({rack: site.rack.rack, fleet: site.rack.fleet()}, site.rack.context())
  await gpus.serve(site.rack.rack.nodes, {backend: 'sim'})
  endpoints = await site.open({}, await loadManifest(folder))
  await site.run('one', {'number.txt': Buffer.from('1')})
  await site.models.register(await site.models.findRegistration({name: 'eyes', run: 'one', path: 'number.txt'}))
})

afterAll(async () => {
  await site?.stop()
  await rm(folder, {recursive: true, force: true})
})

interface Seen {
  pid: number
  devices: number
  memory: number
}

/** One request: what its server saw of GPUs. The answer is what was sent, through the memory of one. */
async function ask(name: string): Promise<Seen> {
  const head = await connectHead(site.rack.rack, site.rack.fleet(), site.rack.context())
  const data = [1.5, -2, 3, 0.25]
  const answer = await fetch(`${head.uri}/endpoints/${name}/v2/models/${name}/infer`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${(await endpoints.token(name)).reveal()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({inputs: [{name: 'x', datatype: 'FP32', shape: [4], data}]}),
  })
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  const {outputs, parameters} = JSON.parse(text) as {outputs: {data: number[]}[]; parameters: Seen}
  expect(outputs[0]?.data).toEqual(data)
  return parameters
}

/** Who holds what, once it is so. */
async function leases(isSo: (found: string[], ids: string[]) => boolean, what: string): Promise<string[]> {
  const until = Date.now() + 60_000
  for (;;) {
    const held = (await gpus.read(site.rack.rack.nodes)).leases.filter(({state}) => state !== 'granted')
    const found = held.map(({node, purpose}) => `${node}: ${purpose}`).sort()
    const ids = held.map(({lease}) => lease)
    if (isSo(found, ids)) return found
    if (Date.now() > until) throw new Error(`not in a minute: ${what}; ${JSON.stringify(found)}`)
    await sleep(100)
  }
}

test('two servers have shares of one GPU, see nothing else, and give them back, also when they are killed', async () => {
  await endpoints.deploy({name: 'eyes', on: 'node-1'})
  const both = await leases((found) => found.length === 2, 'a lease each')
  expect(both).toEqual([
    'node-1: model server endpoint-eyes-r1-0 on node-1',
    'node-1: model server endpoint-eyes-r1-1 on node-1',
  ])
  const kept = (await gpus.read(site.rack.rack.nodes)).leases.map(({lease}) => lease)
  const before = await ask('eyes')
  expect(before).toMatchObject({devices: 1, memory: 64 * MIB})
  // The keeper of its lease is its parent: without it nobody has one, the server ends, and the next one gets another.
  const stat = await readFile(`/proc/${before.pid}/stat`, 'utf8')
  process.kill(Number(/\) \S (\d+)/.exec(stat)?.[1]), 'SIGKILL')
  // By their ids: the next server may have its lease before anybody looks.
  await leases((found, ids) => found.length === 2 && ids.some((id) => !kept.includes(id)), 'it is there again')
  await endpoints.scale('eyes', 1)
  expect(await leases((found) => found.length === 1, 'one of fewer')).toHaveLength(1)
  await endpoints.remove('eyes')
  await leases((found) => found.length === 0, 'none')
})

/** What the head tells Prometheus of GPUs: of each series without its prefix, its value. */
async function gpuSeries(): Promise<Record<string, number>> {
  const head = await connectHead(site.rack.rack, site.rack.fleet(), site.rack.context())
  const answer = await fetch(`${head.uri}/flexrack/v1/metrics`, {
    headers: {authorization: `Bearer ${head.token.reveal()}`},
  })
  const lines = [...(await answer.text()).matchAll(/^flexrack_gateway_(gpu_.*) (\S+)$/gm)]
  await head.close()
  return Object.fromEntries(lines.map(([, series, value]) => [series!, Number(value)]))
}

async function seriesOnce(isSo: (found: Record<string, number>) => boolean): Promise<Record<string, number>> {
  for (const until = Date.now() + 60_000; ;) {
    const found = await gpuSeries()
    if (isSo(found)) return found
    if (Date.now() > until) throw new Error(`not in a minute: ${JSON.stringify(found)}`)
    await sleep(500)
  }
}

test('two endpoints share one GPU; the head tells what each has of it, for as long as it has', async () => {
  const at = (endpoint: string): string => `{endpoint="${endpoint}",node="node-1",gpu="0"}`
  await endpoints.deploy({name: 'eyes', on: 'node-1'})
  await endpoints.deploy({name: 'ears', on: 'node-1'})
  const seen = await Promise.all([ask('eyes'), ask('ears'), ask('eyes'), ask('ears')])
  expect(seen.map(({devices, memory}) => [devices, memory / MIB])).toEqual([
    [1, 64],
    [1, 32],
    [1, 64],
    [1, 32],
  ])
  const leased = 'gpu_memory_leased_bytes'
  const both = await seriesOnce((found) => Object.keys(found).length === 6)
  expect(both).toMatchObject({[leased + at('eyes')]: 128 * MIB, [leased + at('ears')]: 32 * MIB})
  expect(both[`gpu_busy_ratio${at('eyes')}`]).toBeGreaterThanOrEqual(0)
  // A release that has ended leaves nothing: the next one has the same series.
  await endpoints.deploy({name: 'ears', on: 'node-1', force: true})
  expect(await ask('ears')).toMatchObject({devices: 1, memory: 32 * MIB})
  await leases((found) => found.length === 3, 'of the new release alone')
  const again = await seriesOnce((found) => found[leased + at('ears')] === 32 * MIB)
  expect(Object.keys(again).sort()).toEqual(Object.keys(both).sort())
  await endpoints.remove('ears')
  expect(Object.keys(await seriesOnce((found) => !(leased + at('ears') in found)))).toHaveLength(3)
  expect(await ask('eyes')).toMatchObject({devices: 1, memory: 64 * MIB})
  await endpoints.remove('eyes')
  await leases((found) => found.length === 0, 'none')
  expect(await seriesOnce((found) => Object.keys(found).length === 0)).toEqual({})
})

test('one that needs more than its node has leases of the other one by itself', async () => {
  await endpoints.deploy({name: 'far', on: 'node-1'})
  expect(await ask('far')).toMatchObject({devices: 2})
  expect(await leases((found) => found.length === 2, 'of two nodes')).toEqual([
    'node-1: model server endpoint-far-r1-0 on node-1',
    'node-2: model server endpoint-far-r1-0 on node-1',
  ])
  await endpoints.remove('far')
  await leases((found) => found.length === 0, 'none')
})

test('a server that sleeps leases nothing; one that wakes has a GPU of its own', async () => {
  await endpoints.deploy({name: 'sleepy', on: 'node-1,node-2'})
  await leases((found) => found.length === 0, 'asleep')
  expect(await ask('sleepy')).toMatchObject({devices: 1})
  expect(await leases((found) => found.length > 0, 'awake')).toHaveLength(1)
  await endpoints.remove('sleepy')
  await leases((found) => found.length === 0, 'none')
})
