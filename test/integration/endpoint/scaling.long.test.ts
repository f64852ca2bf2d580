import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Endpoints} from '../../../src/lib/endpoint/index.ts'
import {connectHead} from '../../../src/lib/head/index.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {SCALED_SERVER} from '../../support/scaled-server.ts'

const CYCLES = 22
const MANIFEST = `
name: sleepy
endpoints:
  sleepy:
    model: sleepy
    command: "python3 serve.py {model} {host} {port} {model_file}"
    replicas: 0..3
    scale: {target: 1, idle: 1, down: 1}
`

let site: EndpointRack
let folder: string
let endpoints: Endpoints

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-sleepy-'))
  await writeFile(join(folder, 'serve.py'), SCALED_SERVER)
  await writeFile(join(folder, 'flexrack.yaml'), MANIFEST)
  site = await startEndpointRack({nodes: 2})
  endpoints = await site.open({}, await loadManifest(folder))
  await site.run('one', {'number.txt': Buffer.from('1')})
  await site.models.register(await site.models.findRegistration({name: 'sleepy', run: 'one', path: 'number.txt'}))
})

afterAll(async () => {
  await site?.stop()
  await rm(folder, {recursive: true, force: true})
})

test(`${CYCLES} times from zero to many and back under Poisson arrivals: no request is lost`, async () => {
  await endpoints.deploy({name: 'sleepy', on: 'node-1,node-2'})
  const head = await connectHead(site.rack.rack, site.rack.fleet(), site.rack.context())
  const token = (await endpoints.token('sleepy')).reveal()
  const ask = async (milliseconds: number): Promise<{status: number; ms: number}> => {
    const begin = performance.now()
    const answer = await fetch(`${head.uri}/endpoints/sleepy/v2/models/sleepy/infer`, {
      method: 'POST',
      headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json'},
      body: JSON.stringify({inputs: [{name: 'x', datatype: 'FP32', shape: [1], data: [milliseconds]}]}),
    })
    await answer.arrayBuffer()
    return {status: answer.status, ms: performance.now() - begin}
  }
  const firsts: number[] = []
  const statuses = new Map<number, number>()
  let most = 0
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    for (let look = 0; (await endpoints.show('sleepy')).state !== 'asleep'; look++) {
      if (look > 200) throw new Error(`not asleep: ${JSON.stringify((await endpoints.show('sleepy')).scaling)}`)
      await sleep(100)
    }
    firsts.push((await ask(0)).ms)
    const under = []
    // 20 a second of 150 ms each: three at once on average
    for (const until = Date.now() + 5000; Date.now() < until;) {
      under.push(ask(150))
      await sleep(-Math.log(1 - Math.random()) * 50)
    }
    most = Math.max(most, (await endpoints.show('sleepy')).scaling?.ready ?? 0)
    for (const {status} of await Promise.all(under)) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const {scaling} = await endpoints.show('sleepy')
  const sorted = firsts.toSorted((a, b) => a - b)
  console.log(
    `${CYCLES} wakes: first answer after ${sorted[Math.floor(CYCLES / 2)]?.toFixed(0)} ms at the median, ` +
      `${sorted.at(-1)?.toFixed(0)} ms at most; the start at the deploy took ${scaling?.startSeconds} s; ` +
      `answers ${JSON.stringify([...statuses])}, ${most} servers at most`,
  )
  expect([...statuses.keys()]).toEqual([200])
  expect(most).toBe(3)
  expect(scaling?.wakes).toBeGreaterThanOrEqual(CYCLES)
})
