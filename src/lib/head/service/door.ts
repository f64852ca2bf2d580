import Fastify, {type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest} from 'fastify'
import {addApi} from './api.ts'
import {Failure, failureBody} from './failure.ts'
import {addGateway} from './gateway.ts'
import {logLine} from './log.ts'
import {Logins} from './login.ts'
import {addMlflow} from './mlflow-routes.ts'
import type {Parts} from './parts.ts'
import {pathOf} from './path.ts'
import type {Caller, Tokens} from './tokens.ts'

const LOGIN_PATH = '/flexrack/v1/login'
/** More would leave no open files for the store and for MLflow. */
const MOST_CONNECTIONS = 2000

/** The only way in: who is not known goes no further than the onRequest hook. Bodies are streams until a route reads them. */
export async function buildDoor(parts: Parts): Promise<FastifyInstance> {
  const app = Fastify({
    logger: false, // headers carry tokens; what is worth a line is logged by hand
    forceCloseConnections: 'idle',
    requestTimeout: 0, // a large artifact takes as long as it takes; a silent client is ended by the socket's own timeout
    connectionTimeout: 300_000,
    keepAliveTimeout: 72_000,
    exposeHeadRoutes: false,
    routerOptions: {ignoreTrailingSlash: false, maxParamLength: 500},
  })
  app.server.maxConnections = MOST_CONNECTIONS
  const logins = new Logins(parts.tokens)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.decorateRequest('caller', undefined)
  app.addHook('onRequest', async (request) => {
    const path = pathOf(request.url)
    if (request.routeOptions.url === LOGIN_PATH) return
    request.caller = identify(request, parts.tokens, logins)
    requireKind(request.caller, request, path)
  })
  app.setErrorHandler((error: Error, request, reply) => answerError(error, request, reply))
  app.setNotFoundHandler((request) => {
    throw new Failure(404, 'NOT_FOUND', `there is nothing at ${pathOf(request.url)}`)
  })
  addApi(app, parts, logins)
  // Each has its own connections, so each its own scope.
  await app.register((scope) => addGateway(scope, parts))
  await app.register((scope) => addMlflow(scope, parts))
  return app
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
  if (!caller || caller.kind === 'session') throw new Failure(401, 'REFUSED', 'the token is wrong, revoked or expired')
  return caller
}

/**
 * Which doors a kind of token opens at all; what a run may do behind its door is decided there. It goes by the route that
 * the router chose: reading the path a second time could come to another conclusion.
 */
function requireKind(caller: Caller, request: FastifyRequest, path: string): void {
  if (caller.kind === 'admin') return
  const route = request.routeOptions.url
  if (route === '/flexrack/v1/tokens/self' && caller.kind !== 'session') return
  if (caller.kind === 'endpoint' && route?.startsWith('/endpoints/:name/') && (request.params as {name?: string}).name === caller.endpoint) return
  const isOurs = /^\/(flexrack|endpoints)(\/|$)/i.test(path)
  if ((caller.kind === 'run' || caller.kind === 'session') && route === '/*' && !isOurs) return
  throw new Failure(403, 'REFUSED', `a token of kind ${caller.kind} does not open ${path}`)
}

function answerError(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '/'
  const failure = error instanceof Failure ? error : unexpected(error as FastifyError, path)
  if (failure.status === 401) reply.header('www-authenticate', 'Bearer')
  if (failure.status === 413) reply.header('connection', 'close')
  return reply.code(failure.status).type('application/json').send(JSON.stringify(failureBody(path, failure)))
}

function unexpected(error: FastifyError, path: string): Failure {
  const status = error.statusCode ?? 500
  if (status >= 500) logLine(`${path}: ${error.message}`)
  return new Failure(status, status >= 500 ? 'BUG' : 'USAGE', error.message)
}
