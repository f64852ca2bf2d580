import {statfs} from 'node:fs/promises'
import type {FastifyInstance, FastifyRequest} from 'fastify'
import type {DoorStatus} from '../types.ts'
import {parseObject, readBody} from './body.ts'
import type {Parts} from './parts.ts'
import type {Logins} from './login.ts'
import {artifactsOf, publicStore, storeOf} from './mlflow-command.ts'

const LARGEST_BODY = 4 * 1024 * 1024

/** /flexrack/v1: status, tokens, locks, endpoint documents, login. Only the admin token comes this far, but for its own token's end. */
export function addApi(app: FastifyInstance, parts: Parts, logins: Logins): void {
  const {tokens, locks, endpoints, traffic} = parts
  app.get('/flexrack/v1/status', () => statusOf(parts))

  app.post('/flexrack/v1/tokens', async (request) => tokens.issue(await bodyOf(request)))
  app.delete('/flexrack/v1/tokens/self', async (request) => {
    if (request.caller && 'id' in request.caller) await tokens.revoke(request.caller.id)
    return {}
  })
  app.patch('/flexrack/v1/tokens/self', async (request) => {
    const {ttl_seconds: ttl} = await bodyOf(request)
    return request.caller && 'id' in request.caller ? tokens.shorten(request.caller.id, ttl) : {}
  })
  app.delete<{Params: {id: string}}>('/flexrack/v1/tokens/:id', async (request) => {
    await tokens.revoke(request.params.id)
    return {}
  })

  app.get('/flexrack/v1/locks', () => ({locks: locks.list()}))
  app.put<{Params: {name: string}}>('/flexrack/v1/locks/:name', async (request) => locks.put(request.params.name, await bodyOf(request)))
  app.delete<{Params: {name: string}}>('/flexrack/v1/locks/:name', async (request) => {
    await locks.remove(request.params.name, (await bodyOf(request)).fence)
    return {}
  })

  app.post('/flexrack/v1/login-codes', () => logins.issue())
  app.get<{Querystring: {code?: string}}>('/flexrack/v1/login', async (request, reply) => {
    const cookie = await logins.trade(request.query.code ?? '')
    return reply.header('set-cookie', cookie).header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').redirect('/', 303)
  })

  const describe = (name: string): unknown => {
    const record = endpoints.get(name)
    return {name, ...record, ...traffic.counts(record.document.active?.targets ?? [])}
  }
  app.get('/flexrack/v1/endpoints', () => ({endpoints: endpoints.names().map(describe)}))
  app.get<{Params: {name: string}}>('/flexrack/v1/endpoints/:name', (request) => describe(request.params.name))
  app.put<{Params: {name: string}}>('/flexrack/v1/endpoints/:name', async (request) => endpoints.put(request.params.name, await bodyOf(request)))
  app.delete<{Params: {name: string}}>('/flexrack/v1/endpoints/:name', async (request) => {
    await endpoints.remove(request.params.name)
    return {}
  })
}

async function bodyOf(request: FastifyRequest): Promise<Record<string, unknown>> {
  return parseObject(await readBody(request, LARGEST_BODY))
}

async function statusOf({config, tokens, endpoints, mlflow, startedAt, url, port}: Parts): Promise<DoorStatus> {
  const disk = await statfs(config.folder)
  return {
    version: config.version,
    pid: process.pid,
    startedAt,
    uptimeSeconds: Math.round((Date.now() - startedAt) / 1000),
    url: url(),
    port: port(),
    mlflow: mlflow.status,
    store: publicStore(storeOf(config)),
    artifacts: publicStore(artifactsOf(config)),
    disk: {free: disk.bavail * disk.bsize, total: disk.blocks * disk.bsize},
    endpoints: endpoints.names().length,
    tokens: tokens.count,
  }
}
