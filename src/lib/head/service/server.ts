import type {Server} from 'node:http'
import Fastify, {type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest} from 'fastify'
import {addApi} from './api.ts'
import {Failure, failureBody, tokenRefused} from './failure.ts'
import {addGateway} from './gateway.ts'
import {chooseProtocol} from './grpc/server.ts'
import {logLine} from './log.ts'
import {Logins} from './login.ts'
import {addMlflow} from './mlflow-routes.ts'
import {errorPage} from './page/error-page.ts'
import {addHandRoutes} from './page/hand-routes.ts'
import {addPages, PAGE_HEADERS} from './page/routes.ts'
import type {Parts} from './parts.ts'
import {isOurs, isTrackingApi, pathOf, requireQuery} from './path.ts'
import type {PendingConnections} from './pending-connections.ts'
import {AGENT_PATH, addAgentApi} from './scaling/api.ts'
import {requireServed} from './standby/refusals.ts'
import {addFollow} from './standby/routes.ts'
import type {Identity} from './tls/certificates.ts'
import type {Caller} from './token-kinds.ts'
import type {Tokens} from './tokens.ts'

const LOGIN_PATH = '/flexrack/v1/login'
/** More would leave no open files for the store and for MLflow. */
const MOST_CONNECTIONS = 2000

/** A silent client is ended by the socket's own timeout; a large artifact takes as long as it takes. Milliseconds. */
const SILENCE_MS = 300_000
const KEEP_ALIVE_MS = 72_000
const HANDSHAKE_MS = 10_000

/** A server of the head: what holds for its connections. */
export function tune(server: Server, pending: PendingConnections): void {
  pending.watch(server)
  server.maxConnections = MOST_CONNECTIONS
  server.requestTimeout = 0
  server.setTimeout(SILENCE_MS)
  server.keepAliveTimeout = KEEP_ALIVE_MS
}

/**
 * The only way in: who is not known goes no further than the onRequest hook. Bodies are streams until a route reads
 * them. With an identity its own server speaks TLS only.
 */
export async function buildServer(parts: Parts, identity?: Identity): Promise<FastifyInstance> {
  const app = Fastify({
    ...(identity && {
      https: {
        key: identity.key,
        cert: identity.certificate,
        handshakeTimeout: HANDSHAKE_MS,
        ALPNCallback: chooseProtocol,
      },
    }),
    logger: false, // headers carry tokens; what is worth a line is logged by hand
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: {ignoreTrailingSlash: false, maxParamLength: 500},
  }) as FastifyInstance
  tune(app.server, parts.pending)
  const logins = new Logins(parts.tokens)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.decorateRequest('caller', undefined)
  app.decorateRequest('atEnd', undefined as never)
  app.addHook('onRequest', async (request, reply) => {
    request.atEnd = ender(reply)
    const path = pathOf(request.url)
    requireQuery(request.url)
    if (request.routeOptions.url === LOGIN_PATH) return
    request.caller = identify(request, parts.tokens, logins)
    parts.pending.know(request.raw.socket)
    requireKind(request.caller, request, path)
    if (parts.following) requireServed(parts.following, request)
  })
  app.setErrorHandler((error: Error, request, reply) => answerError(error, request, reply))
  app.setNotFoundHandler((request) => {
    throw new Failure(404, 'NOT_FOUND', `there is nothing at ${pathOf(request.url)}`)
  })
  addApi(app, parts, logins)
  addFollow(app, parts)
  addAgentApi(app, parts)
  addHandRoutes(app, parts, logins)
  addPages(app, parts, logins)
  // Each has its own connections, so each its own scope.
  await app.register((scope) => addGateway(scope, parts))
  await app.register((scope) => addMlflow(scope, parts))
  return app
}

/** One listener for all that is to be done at a request's end: each costs as much as a header. */
function ender({raw}: FastifyReply): (work: () => void) => void {
  let works: (() => void)[] | undefined
  return (work) => {
    if (raw.destroyed) return work()
    if (works) return void works.push(work)
    const mine = (works = [work])
    raw.once('close', () => {
      for (const one of mine) one()
    })
  }
}

function identify(request: FastifyRequest, tokens: Tokens, logins: Logins): Caller {
  const given = request.headers.authorization
  if (given === undefined) {
    const caller = logins.check(request.headers)
    if (caller) return caller
    throw new Failure(401, 'REFUSED', 'a token is needed: Authorization: Bearer <token>')
  }
  const token = /^Bearer ([\w.-]+)$/i.exec(given)?.[1]
  const caller = token ? tokens.check(token) : undefined
  if (!caller || caller.kind === 'session') throw tokenRefused()
  return caller
}

/**
 * Which routes a kind of token is for at all; what a run may do there is decided behind its route. It goes by the route
 * that the router chose: reading the path a second time could come to another conclusion.
 */
function requireKind(caller: Caller, request: FastifyRequest, path: string): void {
  if (caller.kind === 'admin') return
  const route = request.routeOptions.url
  // Not an endpoint's: its clients share it, and none may end it for the others.
  if (route === '/flexrack/v1/tokens/self' && caller.kind === 'run') return
  if (caller.kind === 'standby' && route?.startsWith('/flexrack/v1/follow')) return
  if (caller.kind === 'node' && route === AGENT_PATH) return
  if (caller.kind === 'personal' && route === '/*' && !isOurs(path) && isTrackingApi(path)) return
  if (
    caller.kind === 'endpoint' &&
    route?.startsWith('/endpoints/:name/') &&
    (request.params as {name?: string}).name === caller.endpoint
  )
    return
  if (caller.kind === 'session' && caller.opens && route?.startsWith('/flexrack/ui/')) return
  const isLogging = caller.kind === 'run' || (caller.kind === 'session' && !caller.opens)
  if (isLogging && route === '/*' && !isOurs(path)) return
  throw new Failure(403, 'REFUSED', `a token of kind ${caller.kind} does not open ${path}`)
}

function answerError(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '/'
  const failure = error instanceof Failure ? error : unexpected(error as FastifyError, path)
  if (failure.status === 401) reply.header('www-authenticate', 'Bearer')
  if (failure.status === 413 || failure.status === 408) reply.header('connection', 'close')
  if (typeof failure.more.retry_after === 'number') reply.header('retry-after', failure.more.retry_after)
  if (path.startsWith('/flexrack/ui/'))
    return reply.code(failure.status).headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(errorPage(failure))
  return reply
    .code(failure.status)
    .type('application/json')
    .send(JSON.stringify(failureBody(path, failure)))
}

function unexpected(error: FastifyError, path: string): Failure {
  if (['ENOSPC', 'EDQUOT'].includes(error.code))
    return new Failure(507, 'HEAD_FAILED', "the head's disk is full: nothing was changed", {retry_after: 30})
  const status = error.statusCode ?? 500
  if (status >= 500) logLine(`${path}: ${error.message}`)
  return new Failure(status, status >= 500 ? 'BUG' : 'USAGE', error.message)
}
