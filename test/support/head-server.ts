import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {FastifyInstance} from 'fastify'
import {buildServer} from '../../src/lib/head/service/server.ts'
import {Clients} from '../../src/lib/head/service/tokens/clients.ts'
import {Endpoints} from '../../src/lib/head/service/documents/endpoints.ts'
import type {Served} from '../../src/lib/head/service/gateway/calls.ts'
import {Promises as Joint} from '../../src/lib/head/service/joint/promises.ts'
import {makeLimits, type Limits} from '../../src/lib/head/service/limits/limits.ts'
import {Audit} from '../../src/lib/head/service/audit/audit.ts'
import {Claims} from '../../src/lib/head/service/claims/claims.ts'
import {Quotas} from '../../src/lib/head/service/claims/quotas.ts'
import {Holdings} from '../../src/lib/head/service/holdings/holdings.ts'
import {Locks} from '../../src/lib/head/service/documents/locks.ts'
import {MlflowServer} from '../../src/lib/head/service/tracking/mlflow.ts'
import type {Parts} from '../../src/lib/head/service/parts.ts'
import {Ui} from '../../src/lib/head/service/page/ui.ts'
import {People} from '../../src/lib/head/service/people/people.ts'
import {PendingConnections} from '../../src/lib/head/service/limits/pending-connections.ts'
import {openQueues} from '../../src/lib/head/service/queue/open.ts'
import {Measures} from '../../src/lib/head/service/releases/measures.ts'
import {Rollouts} from '../../src/lib/head/service/releases/rollouts.ts'
import {Samples} from '../../src/lib/head/service/sampling/samples.ts'
import {Shadows} from '../../src/lib/head/service/releases/shadow.ts'
import {Followers} from '../../src/lib/head/service/standby/followers.ts'
import {Superseded} from '../../src/lib/head/service/standby/superseded.ts'
import {Scaler} from '../../src/lib/head/service/scaling/scaler.ts'
import {Authority} from '../../src/lib/head/service/tls/authority.ts'
import {Tokens} from '../../src/lib/head/service/tokens/tokens.ts'
import {Traffic} from '../../src/lib/head/service/gateway/traffic.ts'
import type {ServiceConfig} from '../../src/lib/head/types.ts'

export interface TestServer {
  app: FastifyInstance
  parts: Parts
  url: string
  folder: string
  limits: Limits
  /** The admin token. */
  admin: string
  /** Calls the head with the admin token, or another. */
  call(
    method: string,
    path: string,
    options?: {body?: unknown; token?: string; headers?: Record<string, string>},
  ): Promise<Response>
  /**
   * Writes the endpoint's document with these targets active. `served`: what they speak, and where they tell their
   * health.
   */
  activate(endpoint: string, targets: string[], served?: Served): Promise<void>
  close(): Promise<void>
}

/**
 * The head's server in this process, listening on loopback. Behind it is no MLflow, or what listens on the socket that
 * is given (standIn). A folder that is given stays.
 */
export async function openTestServer(
  limits?: ServiceConfig['limits'],
  given: {folder?: string; mlflowSocket?: string; port?: number} = {},
): Promise<TestServer> {
  const folder = given.folder ?? (await mkdtemp(join(tmpdir(), 'flexrack-server-')))
  const config: ServiceConfig = {
    folder,
    version: 'test',
    bind: '127.0.0.1',
    port: 0,
    python: '/nowhere/python',
    ...(limits && {limits}),
  }
  const mlflow =
    given.mlflowSocket === undefined
      ? await MlflowServer.prepare(config)
      : ({socket: given.mlflowSocket, isReady: true, status: {state: 'ready'}} as MlflowServer)
  const made = makeLimits(config)
  const tokens = await Tokens.open(folder)
  let url = ''
  const endpoints = await Endpoints.open(folder)
  const rollouts = await Rollouts.open(folder)
  const authority = await Authority.open(folder)
  const traffic = new Traffic()
  const measures = new Measures()
  const followers = new Followers(tokens)
  const queued = openQueues({endpoints, rollouts})
  const ui = new Ui()
  const quotas = await Quotas.open(folder)
  const holdings = await Holdings.open(folder, quotas)
  const parts: Parts = {
    config,
    mlflow,
    ui,
    authority,
    limits: made,
    pending: new PendingConnections(),
    tokens,
    people: await People.open(folder),
    followers,
    superseded: await Superseded.open(folder),
    clients: new Clients(tokens),
    quotas,
    claims: await Claims.open(folder, {tokens, quotas, beside: () => holdings.all}),
    holdings,
    audit: await Audit.open(folder),
    locks: await Locks.open(folder),
    promises: await Joint.open(folder, endpoints, () => Promise.resolve(undefined)),
    endpoints,
    traffic,
    ...queued,
    measures,
    shadows: new Shadows(),
    samples: new Samples(),
    rollouts,
    scaler: await Scaler.open(folder, {endpoints, traffic, measures, authority, followers, ...queued}),
    startedAt: Date.now(),
    url: () => url,
    port: () => Number(new URL(url).port),
  }
  const {app} = await buildServer(parts)
  url = await app.listen({host: '127.0.0.1', port: given.port ?? 0})
  const admin = (await readFile(join(folder, 'admin-token'), 'utf8')).trim()
  const call: TestServer['call'] = (method, path, {body, token = admin, headers} = {}) =>
    fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && {'content-type': 'application/json'}),
        ...headers,
      },
      ...(body !== undefined && {body: typeof body === 'string' ? body : JSON.stringify(body)}),
    })
  return {
    app,
    parts,
    url,
    folder,
    limits: made,
    admin,
    call,
    async activate(endpoint, targets, served = {}) {
      const before = await call('GET', `/flexrack/v1/endpoints/${endpoint}`)
      const revision = before.ok ? ((await before.json()) as {revision: number}).revision : 0
      const answer = await call('PUT', `/flexrack/v1/endpoints/${endpoint}`, {
        body: {revision, document: {active: {targets, ...served}}},
      })
      if (!answer.ok) throw new Error(await answer.text())
    },
    async close() {
      ui.end()
      await app.close()
      if (given.folder === undefined) await rm(folder, {recursive: true, force: true})
    },
  }
}
