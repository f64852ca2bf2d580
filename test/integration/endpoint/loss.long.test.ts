import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Endpoints} from '../../../src/lib/endpoint/index.ts'
import {openHost, serviceStatus} from '../../../src/lib/host/index.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {lossText, startOpenLoad, type OpenLoad} from '../../support/open-load.ts'
import {chosenSeed} from '../../support/property.ts'
import {generator} from '../../support/chaos/scenario.ts'
import {SCALED_SERVER} from '../../support/scaled-server.ts'

// FLEXRACK_SEED=N repeats an order of changes; FLEXRACK_LOSS_CHANGES=N makes fewer.
const CHANGES = Number(process.env.FLEXRACK_LOSS_CHANGES ?? 100)
const SCALES = Math.ceil(CHANGES / 2)
const KILLS = Math.ceil(CHANGES / 4)
const COMMAND = 'python3 serve.py {model} {host} {port} {model_file}'
const MANIFEST = `
name: mixed
endpoints:
  mixed: {model: mixed, command: "${COMMAND}"}
  ranged: {model: mixed, command: "${COMMAND}", replicas: 0..4, scale: {target: 2, idle: 2, down: 1}}
`

let site: EndpointRack
let folder: string
let endpoints: Endpoints

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-mixed-'))
  await writeFile(join(folder, 'serve.py'), SCALED_SERVER)
  await writeFile(join(folder, 'flexrack.yaml'), MANIFEST)
  site = await startEndpointRack({nodes: 2})
  endpoints = await site.open({}, await loadManifest(folder))
  await site.run('one', {'number.txt': Buffer.from('1')})
  await site.models.register(await site.models.findRegistration({name: 'mixed', run: 'one', path: 'number.txt'}))
  await endpoints.deploy({name: 'mixed', on: 'node-1,node-2', replicas: {replicas: 2}})
})

afterAll(async () => {
  await site?.stop()
  await rm(folder, {recursive: true, force: true})
})

/** Choices that are the same for one seed. */
function picker(): <T>(from: readonly T[]) => T {
  const random = generator(chosenSeed())
  return (from) => from[Math.floor(random() * from.length)]!
}

/** With TLS, as callers come from other machines. */
async function load(name: string, rate: number, takes = 0): Promise<OpenLoad> {
  const {url, certificates} = await endpoints.show(name)
  const ca = certificates === undefined ? undefined : await readFile(certificates, 'utf8')
  const token = (await endpoints.token(name)).reveal()
  return startOpenLoad({urls: [`${url}/v2/models/${name}/infer`], ca, token, rate, seed: chosenSeed(), takes})
}

async function pidOf(node: string, service: string): Promise<number | null> {
  const found = site.rack.rack.nodes.find((one) => one.name === node)!
  const host = await openHost(site.rack.fleet(), found, site.rack.context())
  return (await serviceStatus(host, service)).pid
}

test(`${CHANGES} deploys, canaries, promotes, aborts and rollbacks, mixed, under Poisson load: 0 lost`, async () => {
  const pick = picker()
  const done: Record<string, number> = {}
  const traffic = await load('mixed', 60)
  let canary = false
  for (let change = 0; change < CHANGES; change++) {
    const {releases} = await endpoints.show('mixed')
    const mayReturn = releases.some((one) => one.state === 'stopped' && !one.rejected)
    const choices: string[] = canary
      ? ['promote', 'abort', 'rollback']
      : ['deploy', 'canary', ...(mayReturn ? ['rollback'] : [])]
    const what: string = pick(choices)
    const given = {name: 'mixed', on: 'node-1,node-2', replicas: {replicas: pick([1, 2])}, force: true}
    if (what === 'deploy') await endpoints.deploy(given)
    else if (what === 'canary') await endpoints.deploy({...given, canary: {steps: [pick([10, 50])]}})
    else if (what === 'rollback') await endpoints.rollback('mixed')
    else await endpoints.decide('mixed', what as 'promote' | 'abort')
    canary = what === 'canary'
    done[what] = (done[what] ?? 0) + 1
    await traffic.more(5)
  }
  if (canary) await endpoints.decide('mixed', 'abort')
  const report = await traffic.end()
  const {queue} = await endpoints.show('mixed')
  console.log(lossText(`changes (seed ${chosenSeed()}) ${JSON.stringify(done)}`, report, `; ${queue?.retries} retried`))
  expect(report.lost).toEqual([])
  expect(report.answered).toBe(report.sent)
  expect(Object.keys(report.releases).length).toBeGreaterThan(CHANGES / 4)
})

test(`${KILLS} model servers killed with -9 at random, of two: 0 lost`, async () => {
  const pick = picker()
  await endpoints.deploy({name: 'mixed', on: 'node-1,node-2', replicas: {replicas: 2}, force: true})
  const traffic = await load('mixed', 60, 5)
  for (let kill = 0; kill < KILLS; kill++) {
    const {node, service} = pick((await endpoints.show('mixed')).servers)
    const pid = await pidOf(node, service)
    if (pid !== null) process.kill(pid, 'SIGKILL')
    await traffic.more(30)
    for (let look = 0; (await pidOf(node, service)) === pid; look++) {
      if (look > 100) throw new Error(`${service} was not started again`)
      await sleep(100)
    }
    await sleep(1000)
  }
  const report = await traffic.end()
  const {queue} = await endpoints.show('mixed')
  console.log(lossText(`${KILLS} servers killed`, report, `; ${queue?.retries} retried`))
  expect(report.lost).toEqual([])
})

test(`scaled ${SCALES} times, up and down by command: 0 lost`, async () => {
  const pick = picker()
  const traffic = await load('mixed', 60, 5)
  for (let scale = 0, now = 2; scale < SCALES; scale++) {
    now = pick([1, 2, 3, 4].filter((count) => count !== now))
    await endpoints.scale('mixed', now)
    await traffic.more(10)
  }
  const report = await traffic.end()
  console.log(lossText(`${SCALES} times scaled by command`, report))
  expect(report.lost).toEqual([])
})

test(`the head scales up and down ${SCALES} times, as load comes and goes: 0 lost`, async () => {
  await endpoints.deploy({name: 'ranged', on: 'node-1,node-2'})
  const [sum, changes] = [{sent: 0, answered: 0, lost: 0}, new Set<number>()]
  for (let burst = 0; changes.size < SCALES && burst < SCALES; burst++) {
    const traffic = await load('ranged', 40, 100)
    await traffic.more(160)
    const report = await traffic.end()
    sum.sent += report.sent
    sum.answered += report.answered
    sum.lost += report.lost.length
    if (report.lost.length > 0) console.log(lossText(`burst ${burst}`, report))
    await sleep(3000)
    for (const {at, text} of (await endpoints.show('ranged')).scaling?.events ?? [])
      if (/ to \d+ servers/.test(text)) changes.add(at)
  }
  console.log(`${changes.size} times scaled by the head: ${JSON.stringify(sum)}`)
  expect(sum).toMatchObject({lost: 0, answered: sum.sent})
  expect(changes.size).toBeGreaterThanOrEqual(SCALES)
})

test('the head killed with -9 again and again: who asks meanwhile waits, and what was under way breaks', async () => {
  const gaps: number[] = []
  const traffic = await load('mixed', 60, 5)
  for (let kill = 0; kill < 5; kill++) {
    const pid = await pidOf('node-1', 'head')
    const before = traffic.now().lost.length
    process.kill(pid!, 'SIGKILL')
    await sleep(5000)
    await traffic.more(30)
    const lost = traffic.now().lost.slice(before)
    gaps.push((lost.at(-1)?.at ?? 0) - (lost[0]?.at ?? 0))
    await sleep(2000)
  }
  const report = await traffic.end()
  console.log(lossText('head killed 5 times, one address', report, `; errors over ${gaps.join(', ')} ms`))
  expect(report.answered + report.lost.length).toBe(report.sent)
})
