import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {FastifyInstance} from 'fastify'
import {buildDoor} from '../../src/lib/head/service/door.ts'
import {Endpoints} from '../../src/lib/head/service/endpoints.ts'
import {Locks} from '../../src/lib/head/service/locks.ts'
import {MlflowServer} from '../../src/lib/head/service/mlflow.ts'
import {Tokens} from '../../src/lib/head/service/tokens.ts'
import {Traffic} from '../../src/lib/head/service/traffic.ts'
import type {ServiceConfig} from '../../src/lib/head/types.ts'

export interface TestDoor {
  app: FastifyInstance
  url: string
  folder: string
  /** Calls the door with the admin token, or another. */
  call(method: string, path: string, options?: {body?: unknown; token?: string; headers?: Record<string, string>}): Promise<Response>
  /** Writes the endpoint's document with these targets active. */
  activate(endpoint: string, targets: string[]): Promise<void>
  close(): Promise<void>
}

/** The head's door in this process, listening on loopback, without MLflow behind it. */
export async function openTestDoor(): Promise<TestDoor> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-door-'))
  const config: ServiceConfig = {folder, version: 'test', bind: '127.0.0.1', port: 0, python: '/nowhere/python'}
  const mlflow = await MlflowServer.prepare(config)
  let url = ''
  const app = await buildDoor({
    config,
    mlflow,
    tokens: await Tokens.open(folder),
    locks: await Locks.open(folder),
    endpoints: await Endpoints.open(folder),
    traffic: new Traffic(),
    startedAt: Date.now(),
    url: () => url,
    port: () => Number(new URL(url).port),
  })
  url = await app.listen({host: '127.0.0.1', port: 0})
  const admin = (await readFile(join(folder, 'admin-token'), 'utf8')).trim()
  const call: TestDoor['call'] = (method, path, {body, token = admin, headers} = {}) =>
    fetch(url + path, {
      method,
      headers: {authorization: `Bearer ${token}`, ...(body !== undefined && {'content-type': 'application/json'}), ...headers},
      ...(body !== undefined && {body: typeof body === 'string' ? body : JSON.stringify(body)}),
    })
  return {
    app,
    url,
    folder,
    call,
    async activate(endpoint, targets) {
      const before = await call('GET', `/flexrack/v1/endpoints/${endpoint}`)
      const revision = before.ok ? ((await before.json()) as {revision: number}).revision : 0
      const answer = await call('PUT', `/flexrack/v1/endpoints/${endpoint}`, {body: {revision, document: {active: {targets}}}})
      if (!answer.ok) throw new Error(await answer.text())
    },
    async close() {
      await app.close()
      await rm(folder, {recursive: true, force: true})
    },
  }
}
