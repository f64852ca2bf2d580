import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Endpoints} from '../../../src/lib/endpoint/index.ts'
import {openHost, serviceStatus} from '../../../src/lib/host/index.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {lossText, startOpenLoad, type LoadReport, type OpenLoad} from '../../support/open-load.ts'
import {chosenSeed} from '../../support/property.ts'
import {generator} from '../../support/chaos/scenario.ts'
import {SCALED_SERVER} from '../../support/scaled-server.ts'
import {until} from '../../support/two-heads.ts'

// FLEXRACK_SEED=N repeats an order of changes; FLEXRACK_LOSS_CHANGES=N makes fewer.
const CHANGES = Number(process.env.FLEXRACK_LOSS_CHANGES ?? 100)
const SCALES = Math.ceil(CHANGES / 2)
const KILLS = Math.ceil(CHANGES / 4)
/** What ran for so long is started again at once (node: service/supervisor.py, WELL_SECONDS). */
const WELL_MS = 5000
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

/** What comes of requests while `work` is done: with TLS, as callers come from other machines. 20 a second leave processors free. */
async function under(
  name: string,
  takes: number,
  work: (traffic: OpenLoad) => Promise<void>,
  rate = 20,
): Promise<LoadReport> {
  const {url, certificates} = await endpoints.show(name)
  const ca = certificates === undefined ? undefined : await readFile(certificates, 'utf8')
  const token = (await endpoints.token(name)).reveal()
  const urls = [`${url}/v2/models/${name}/infer`]
  const traffic = await startOpenLoad({urls, ca, token, rate, seed: chosenSeed(), takes})
  try {
    await work(traffic)
  } catch (error) {
    console.log(lossText('cut off', await traffic.end()))
    throw error
  }
  return traffic.end()
}

/** Requests that the gateway sent once more. */
async function retried(name: string): Promise<number> {
  return (await endpoints.show(name)).queue?.retries ?? 0
}

async function pidOf(node: string, service: string): Promise<number | null> {
  const found = site.rack.rack.nodes.find((one) => one.name === node)!
  const host = await openHost(site.rack.fleet(), found, site.rack.context())
  return (await serviceStatus(host, service)).pid
}

/** Whether a server that runs has answered the gateway since it was looked at first. */
async function answers(node: string, service: string): Promise<boolean> {
  if ((await pidOf(node, service)) === null) return false
  const served = async (): Promise<number> =>
    (await endpoints.show('mixed')).servers.find((one) => one.service === service)?.served ?? 0
  const before = await served()
  await sleep(500)
  return (await served()) > before
}

test(`${CHANGES} deploys, canaries, promotes, aborts and rollbacks, mixed, under Poisson load: 0 lost`, async () => {
  const pick = picker()
  const done: Record<string, number> = {}
  const report = await under('mixed', 0, async (traffic) => {
    let canary = false
    for (let change = 0; change < CHANGES; change++) {
      const {rollback} = await endpoints.show('mixed')
      const fresh = rollback === undefined ? ['deploy', 'canary'] : ['deploy', 'canary', 'rollback']
      const what: string = pick(canary ? ['promote', 'abort', 'rollback'] : fresh)
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
  })
  const more = `; ${await retried('mixed')} retried by the gateway`
  console.log(lossText(`changes (seed ${chosenSeed()}) ${JSON.stringify(done)}`, report, more))
  expect(report.lost).toEqual([])
  expect(report.answered).toBe(report.sent)
  expect(Object.keys(report.releases).length).toBeGreaterThan(CHANGES / 4)
})

test(`${KILLS} model servers killed with -9 at random, of two: 0 lost`, async () => {
  const pick = picker()
  await endpoints.deploy({name: 'mixed', on: 'node-1,node-2', replicas: {replicas: 2}, force: true})
  const before = await retried('mixed')
  const report = await under('mixed', 20, async (traffic) => {
    for (let kill = 0; kill < KILLS; kill++) {
      const {servers} = await endpoints.show('mixed')
      const {node, service} = pick(servers)
      process.kill((await pidOf(node, service))!, 'SIGKILL')
      await traffic.more(10)
      // One of the two is always there: the other has answered again, and runs for as long as counts as well.
      await until(async () => ((await answers(node, service)) ? true : undefined), 60)
      await sleep(WELL_MS)
    }
  })
  console.log(
    lossText(`${KILLS} servers killed`, report, `; ${(await retried('mixed')) - before} retried by the gateway`),
  )
  expect(report.lost).toEqual([])
})

test(`scaled ${SCALES} times, up and down by command: 0 lost`, async () => {
  const pick = picker()
  const report = await under('mixed', 20, async (traffic) => {
    for (let scale = 0, now = 2; scale < SCALES; scale++) {
      now = pick([1, 2, 3, 4].filter((count) => count !== now))
      await endpoints.scale('mixed', now)
      await traffic.more(5)
    }
  })
  console.log(lossText(`${SCALES} times scaled by command`, report))
  expect(report.lost).toEqual([])
})

test(`the head scales up and down ${SCALES} times, as load comes and goes: 0 lost`, async () => {
  await endpoints.deploy({name: 'ranged', on: 'node-1,node-2'})
  const [sum, changes] = [{sent: 0, answered: 0, lost: 0}, new Set<number>()]
  for (let burst = 0; changes.size < SCALES && burst < SCALES; burst++) {
    const report = await under('ranged', 200, (traffic) => traffic.more(90), 15)
    sum.sent += report.sent
    sum.answered += report.answered
    sum.lost += report.lost.length
    if (report.lost.length > 0) console.log(lossText(`burst ${burst}`, report))
    await sleep(4000)
    for (const {at, text} of (await endpoints.show('ranged')).scaling?.events ?? [])
      if (/ to \d+ servers/.test(text)) changes.add(at)
  }
  console.log(`${changes.size} times scaled by the head: ${JSON.stringify(sum)}`)
  expect(sum).toMatchObject({lost: 0, answered: sum.sent})
  expect(changes.size).toBeGreaterThanOrEqual(SCALES)
})

/** Resolves when a process has ended, its connections with it: milliseconds since 1970. */
async function deathOf(pid: number): Promise<number> {
  await until(async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')
    return /\) [ZX]/.test(stat) || undefined
  })
  return Date.now()
}

test('the head killed with -9 five times: who comes meanwhile waits; what was under way breaks', async () => {
  const kills: {killed: number; dead: number}[] = []
  const report = await under('mixed', 20, async (traffic) => {
    for (let kill = 0; kill < 5; kill++) {
      const pid = await pidOf('node-1', 'head')
      await sleep(WELL_MS)
      const killed = Date.now()
      process.kill(pid!, 'SIGKILL')
      kills.push({killed, dead: await deathOf(pid!)})
      await until(async () => ((await pidOf('node-1', 'head')) === pid ? undefined : true))
      await traffic.more(30)
    }
  })
  const lost = kills.map(({killed, dead}, at) => {
    const mine = report.lost.filter((one) => one.at >= killed && one.at < (kills[at + 1]?.killed ?? Infinity))
    return {
      ms: dead - killed,
      before: mine.filter(({due}) => due < killed),
      dying: mine.filter(({due}) => due >= killed && due <= dead),
      kept: mine.filter(({due, on}) => due > dead && on === 'kept'),
      after: mine.filter(({due, on}) => due > dead && on !== 'kept'),
    }
  })
  const told = lost.map(({ms, before, dying, kept, after}) =>
    [
      `${before.length} before, ${dying.length} in the ${ms} ms of its death`,
      `${kept.length} later on kept connections, ${after.length} on new ones`,
    ].join(', '),
  )
  console.log(
    lossText('head killed 5 times, one address', report, `\n  lost, by when they were due: ${told.join('; ')}`),
  )
  expect(report.answered + report.lost.length).toBe(report.sent)
  expect(lost.flatMap(({before, dying, kept, after}) => [...before, ...dying, ...kept, ...after])).toHaveLength(
    report.lost.length,
  )
  // Nobody was refused: what fails had its request, or at least its connection, at the process that died.
  expect(report.lost.map(({why}) => why).filter((why) => why !== 'ECONNRESET' && why !== 'EPIPE')).toEqual([])
  expect(lost.flatMap(({after}) => after)).toEqual([])
})
