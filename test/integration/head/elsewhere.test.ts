import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {createServer, type AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {headStatus, openTracking, type Tracking} from '../../../src/lib/head/index.ts'
import {headRequirements} from '../../../src/lib/head/requirements.ts'
import {ensureEnvironment, openHost} from '../../../src/lib/host/index.ts'
import type {Manifest} from '../../../src/lib/manifest/index.ts'
import {sharedEnvironments} from '../../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../../support/local-rack.ts'
import {startRelay} from '../../support/relay.ts'

let rack: TestLocalRack
let folder: string
let tracking: Tracking
let server: ReturnType<typeof spawn>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-elsewhere-'))
  rack = await startLocalRack({
    nodes: 1,
    environments: await sharedEnvironments(),
    env: {MLFLOW_TRACKING_TOKEN: "the user's own"},
  })
  const fleet = rack.fleet()
  const host = await openHost(fleet, rack.rack.nodes[0]!, rack.context())
  const {path} = await ensureEnvironment(host, {requirements: headRequirements({})}, rack.context())
  const port = await freePort()
  const args = [
    '-m',
    'mlflow',
    'server',
    '--port',
    String(port),
    '--workers',
    '1',
    '--backend-store-uri',
    `sqlite:///${folder}/mlflow.db`,
    '--artifacts-destination',
    join(folder, 'artifacts'),
  ]
  server = spawn(join(path, 'bin/python'), args, {
    cwd: folder,
    stdio: 'ignore',
    detached: true,
    env: {...process.env, MLFLOW_SERVER_ENABLE_JOB_EXECUTION: 'false', MLFLOW_DISABLE_TELEMETRY: 'true'},
  })
  const manifest = {tracking: {uri: `http://127.0.0.1:${port}`, experiment: 'digits'}} as Manifest
  tracking = await openTracking({rack: rack.rack, fleet, manifest}, rack.context())
  while (!(await tracking.mlflow.version().catch(() => undefined)))
    await new Promise((resolve) => setTimeout(resolve, 200))
})
afterAll(async () => {
  await rack?.stop()
  if (server?.pid) {
    process.kill(-server.pid, 'SIGKILL') // of its own group: it has a child that serves
    await once(server, 'close')
  }
  if (folder) await rm(folder, {recursive: true, force: true})
})

test('with tracking.uri everything goes to that server, with the token of the user, and no head is needed', async () => {
  const {mlflow} = tracking
  const experiment = await mlflow.ensureExperiment('digits')
  const run = await mlflow.createRun({experimentId: experiment.id, name: 'digits-abcde'})
  const access = await tracking.openRun(run.id, experiment.id, 60)
  expect([access.token?.reveal(), access.expiresAt, tracking.head]).toEqual(["the user's own", undefined, undefined])

  await writeFile(join(folder, 'größe.txt'), 'text')
  const sent = await mlflow.uploadArtifact(run.id, 'a/größe.txt', join(folder, 'größe.txt'))
  expect(await mlflow.downloadArtifact(run.id, 'a/größe.txt', join(folder, 'back'))).toEqual(sent)

  const relay = await startRelay({
    spool: join(folder, 'spool'),
    upstream: tracking.nodeUri,
    token: access.token!.reveal(),
    runId: run.id,
  })
  const body = JSON.stringify({run_id: run.id, key: 'loss', value: 0.5, timestamp: 1, step: 1})
  const answer = await fetch(`${relay.uri}/api/2.0/mlflow/runs/log-metric`, {
    method: 'POST',
    headers: {authorization: "Bearer the user's own", 'content-type': 'application/json'},
    body,
  })
  expect(answer.status).toBe(200)
  expect(await relay.close()).toMatchObject({pending: 0})
  expect(
    (await mlflow.searchRuns({experimentIds: [experiment.id], filter: 'metrics.loss = 0.5'})).map((one) => one.id),
  ).toEqual([run.id])
  expect((await headStatus(rack.rack, rack.fleet(), rack.context())).state).toBe('stopped')
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const {port} = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
