import {mkdtemp, rm, stat} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {Secret} from '../../../src/lib/base/index.ts'
import {
  connectHead,
  headStatus,
  startHead,
  stopHead,
  type HeadConnection,
  type ServerStatus,
} from '../../../src/lib/head/index.ts'
import {serviceStatus} from '../../../src/lib/host/index.ts'
import {openMlflow} from '../../../src/lib/tracking/index.ts'
import {answerOf, startClient, startTestHead, type TestHead} from '../../support/head.ts'
import {startRelay} from '../../support/relay.ts'

let head: TestHead
let folder: string
let experiment: string

beforeAll(async () => {
  head = await startTestHead()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-outage-'))
  experiment = (await head.mlflow.ensureExperiment('digits')).id
})
afterAll(async () => {
  await head?.stop()
  if (folder) await rm(folder, {recursive: true, force: true})
})

async function makeRun(name: string): Promise<{id: string; token: string; env: Record<string, string>}> {
  const run = await head.mlflow.createRun({experimentId: experiment, name})
  const {token} = await head.connection.request<{token: string}>('POST', '/flexrack/v1/tokens', {
    kind: 'run',
    run_id: run.id,
    experiment_id: experiment,
    ttl_seconds: 600,
  })
  return {
    id: run.id,
    token,
    env: {MLFLOW_TRACKING_TOKEN: token, MLFLOW_RUN_ID: run.id, MLFLOW_EXPERIMENT_ID: experiment},
  }
}

/** Starts a client that logs so many metrics, and calls `at100` once 100 are logged; the client waits meanwhile. */
async function logMany(count: number, env: Record<string, string>, at100: () => Promise<void>): Promise<void> {
  const client = startClient(head.python, ['count', String(count)], env)
  createInterface({input: client.stderr}).on('line', (line) => {
    if (!/^\d+$/.test(line)) return
    const goOn = (): boolean => client.stdin.write('\n')
    if (line === '100') void at100().then(goOn, (error: Error) => (console.error(error), client.kill()))
    else goOn()
  })
  expect(await answerOf(client)).toMatchObject({run: env.MLFLOW_RUN_ID})
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const ready = (connection: HeadConnection): Promise<ServerStatus> =>
  until(async () => {
    const status = await connection.request<ServerStatus>('GET', '/flexrack/v1/status')
    return status.mlflow.state === 'ready' ? status : undefined
  })

const steps = (count: number): number[] => Array.from({length: count}, (_, step) => step)
const stepsOf = async (runId: string): Promise<number[]> =>
  (await head.mlflow.metricHistory(runId, 'count')).map((one) => one.step).toSorted((a, b) => a - b)

test('a run logs on, to its very end, while the head is away; when it is back nothing is lost and nothing is there twice', async () => {
  const run = await makeRun('away')
  const relay = await startRelay({
    spool: join(folder, 'away'),
    upstream: head.connection.nodeUri,
    caFile: head.caFile,
    token: run.token,
    runId: run.id,
  })
  const fleet = head.rack.fleet()
  await logMany(1000, {...run.env, MLFLOW_TRACKING_URI: relay.uri}, async () => {
    await stopHead(head.rack.rack, fleet, head.rack.context())
  })
  expect((await headStatus(head.rack.rack, fleet, head.rack.context())).state).toBe('stopped')
  expect((await relay.seen('tracking.away')).message).toMatch(/kept on this node/)
  await startHead(head.rack.rack, fleet, head.rack.context())
  await relay.seen('tracking.back')
  expect(await relay.close()).toMatchObject({pending: 0, rejected: 0})
  expect(await stepsOf(run.id)).toEqual(steps(1000))
  expect((await head.mlflow.getRun(run.id)).status).toBe('FINISHED')
})

test('MLflow killed with -9 is started again, and a run that logs meanwhile loses nothing', async () => {
  const run = await makeRun('mlflow-killed')
  const relay = await startRelay({
    spool: join(folder, 'killed'),
    upstream: head.connection.nodeUri,
    caFile: head.caFile,
    token: run.token,
    runId: run.id,
  })
  const before = await ready(head.connection)
  await logMany(400, {...run.env, MLFLOW_TRACKING_URI: relay.uri}, async () => {
    process.kill(before.mlflow.pid!, 'SIGKILL')
  })
  const after = await until(async () => {
    const status = await ready(head.connection)
    return status.mlflow.restarts > before.mlflow.restarts ? status : undefined
  })
  expect(after.pid).toBe(before.pid)
  expect(after.mlflow.pid).not.toBe(before.mlflow.pid)
  expect(await relay.close()).toMatchObject({pending: 0, rejected: 0})
  expect(await stepsOf(run.id)).toEqual(steps(400))
})

test('what a relay acknowledged survives its own kill -9', async () => {
  const run = await makeRun('relay-killed')
  const spool = join(folder, 'relay-killed')
  const nowhere = {spool, upstream: 'http://127.0.0.1:9', token: run.token, runId: run.id}
  const relay = await startRelay(nowhere)
  const log = async (uri: string, step: number): Promise<number> => {
    const body = JSON.stringify({run_id: run.id, key: 'count', value: step, timestamp: 1_700_000_000_000 + step, step})
    const answer = await fetch(`${uri}/api/2.0/mlflow/runs/log-metric`, {
      method: 'POST',
      headers: {authorization: `Bearer ${run.token}`, 'content-type': 'application/json'},
      body,
    })
    return answer.status
  }
  for (let step = 0; step < 40; step++) expect(await log(relay.uri, step)).toBe(200)
  await relay.kill()
  const next = await startRelay({...nowhere, upstream: head.connection.nodeUri, caFile: head.caFile})
  expect(await log(next.uri, 40)).toBe(200)
  expect(await next.close()).toMatchObject({pending: 0, rejected: 0})
  expect(await stepsOf(run.id)).toEqual(steps(41))
})

test('the head killed with -9 comes back at its address with its tokens, locks, endpoints and runs', async () => {
  const run = await makeRun('head-killed')
  const fence = (
    await head.connection.request<{fence: number}>('PUT', '/flexrack/v1/locks/deploy', {owner: 'me', ttl_seconds: 600})
  ).fence
  await head.connection.request('PUT', '/flexrack/v1/endpoints/digits', {
    revision: 0,
    document: {active: {targets: ['http://127.0.0.1:9']}},
  })
  await head.mlflow.setTag(run.id, 'acknowledged', 'yes')
  const {pid} = await serviceStatus(head.host, 'head')
  process.kill(pid!, 'SIGKILL')
  const fleet = head.rack.fleet()
  const connection = await until(async () => {
    const opened = await connectHead(head.rack.rack, fleet, head.rack.context())
    const status = await ready(opened)
    return status.pid === pid ? undefined : opened
  })
  expect(connection.nodeUri).toBe(head.connection.nodeUri)
  const asRun = openMlflow({uri: head.connection.uri, token: new Secret(run.token)})
  expect((await asRun.getRun(run.id)).tags.acknowledged).toBe('yes')
  await expect(
    connection.request('PUT', '/flexrack/v1/locks/deploy', {owner: 'you', ttl_seconds: 5}),
  ).rejects.toMatchObject({code: 'LOCKED', details: {holder: 'me'}})
  expect(
    await connection.request('PUT', '/flexrack/v1/locks/deploy', {owner: 'me', ttl_seconds: 5, fence}),
  ).toMatchObject({fence})
  expect(await connection.request('GET', '/flexrack/v1/endpoints/digits')).toMatchObject({
    revision: 1,
    document: {active: {targets: ['http://127.0.0.1:9']}},
  })
  await connection.close()
})

test('two starts at once end with one head, and a start of one that runs changes nothing', async () => {
  const fleet = head.rack.fleet()
  const before = await ready(head.connection)
  const [one, other] = await Promise.all([
    startHead(head.rack.rack, fleet, head.rack.context()),
    startHead(head.rack.rack, head.rack.fleet(), head.rack.context()),
  ])
  expect([one.pid, other.pid]).toEqual([before.pid, before.pid])
})

test("stopping leaves no process of the head, and its socket's folder is closed to others", async () => {
  const fleet = head.rack.fleet()
  const {pid, mlflow} = await ready(head.connection)
  const {mode} = await stat(join(head.host.root, 'head'))
  expect(mode & 0o077).toBe(0)
  await stopHead(head.rack.rack, fleet, head.rack.context())
  for (const one of [pid, mlflow.pid!]) expect(() => process.kill(one, 0)).toThrow('ESRCH')
  await expect(connectHead(head.rack.rack, fleet, head.rack.context())).rejects.toMatchObject({
    code: 'NOT_FOUND',
    hint: 'flexrack head start --rack local',
  })
})
