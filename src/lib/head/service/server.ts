import {createServer, type RequestListener, type Server} from 'node:http'
import {createServer as createSecureServer} from 'node:https'
import Fastify, {type FastifyInstance, type FastifyRequest} from 'fastify'
import {addApi} from './api.ts'
import {addAuditHooks} from './audit/hooks.ts'
import {addAuditApi} from './audit/routes.ts'
import {Callers} from './tokens/callers.ts'
import {answerOf, Failure} from './failure.ts'
import {Gateway, isCall} from './gateway/gateway.ts'
import {answerHalfClosed} from './gateway/half-open.ts'
import {SILENCE_MS} from './gateway/silence.ts'
import {chooseProtocol} from './grpc/server.ts'
import {endOf} from './limits/incoming.ts'
import {METRICS_PATH, SD_PATH} from './monitor.ts'
import {addJoint, VERDICT_PATH} from './joint/api.ts'
import {Logins} from './tokens/browser-login.ts'
import {addMlflow} from './tracking/mlflow-routes.ts'
import {isTrackingApi} from './tracking/open-calls.ts'
import {errorPage} from './page/error-page.ts'
import {addHandRoutes} from './page/hand-routes.ts'
import {addPages, PAGE_HEADERS} from './page/routes.ts'
import type {Parts} from './parts.ts'
import {addPeople} from './people/api.ts'
import {isWorkspaces} from './people/door.ts'
import {LOGIN_PATHS} from './people/login-api.ts'
import {personOf, takesAdmin} from './people/person.ts'
import {isOpenToUsers} from './people/routes.ts'
import {isOurs, pathOf, requireQuery} from './path.ts'
import type {PendingConnections} from './limits/pending-connections.ts'
import {AGENT_PATH, addAgentApi} from './scaling/api.ts'
import {requireRoute} from './standby/refusals.ts'
import {addFollow, addSuperseded} from './standby/routes.ts'
import type {Identity} from './tls/certificates.ts'
import type {Caller} from './tokens/token-kinds.ts'

/** Of who has no token yet. */
const OPEN_PATHS = new Set(['/flexrack/v1/login', ...LOGIN_PATHS])
/** More would leave no open files for the store and for MLflow. */
const MOST_CONNECTIONS = 2000

const KEEP_ALIVE_MS = 72_000
const HANDSHAKE_MS = 10_000

/** A server of the head: what holds for its connections. */
export function tune(server: Server, pending: PendingConnections): void {
  pending.watch(server)
  server.maxConnections = MOST_CONNECTIONS
  answerHalfClosed(server, isCall)
  // A silent client is ended by the socket's own timeout; a large artifact takes as long as it takes.
  server.requestTimeout = 0
  server.setTimeout(SILENCE_MS)
  server.keepAliveTimeout = KEEP_ALIVE_MS
}

const isLoginLink = ({url, headers}: FastifyRequest): boolean =>
  url.split('?', 1)[0] === '/flexrack/v1/login' && /\btext\/html\b/.test(headers.accept ?? '')

/**
 * The only ways in: calls of endpoints go to the gateway, all others to Fastify, where who is not known goes no further
 * than the onRequest hook. Bodies are streams until a route reads them. With an identity the server of `app` speaks TLS
 * only; `listener` answers the requests of another one.
 */
export async function buildServer(
  parts: Parts,
  identity?: Identity,
): Promise<{app: FastifyInstance; listener: RequestListener}> {
  const logins = new Logins(parts.tokens)
  const callers = new Callers(parts.tokens, logins, parts.pending)
  const gateway = new Gateway(parts, callers)
  let listener!: RequestListener
  const app = Fastify({
    serverFactory: (others) => {
      listener = (request, response) => {
        if (gateway.answersPreflight(request, response)) return
        if (!isCall(request)) return others(request, response)
        void gateway.answer(request, response)
      }
      return identity ? secureServer(identity, listener) : createServer(listener)
    },
    logger: false, // headers carry tokens; what is worth a line is logged by hand
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: {ignoreTrailingSlash: false, maxParamLength: 500},
  }) as FastifyInstance
  tune(app.server, parts.pending)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.decorateRequest('caller', undefined)
  app.decorateRequest('atEnd', undefined as never)
  addAuditHooks(app, parts)
  app.addHook('onRequest', async (request, reply) => {
    request.atEnd = endOf(reply.raw)
    const path = pathOf(request.url)
    requireQuery(request.url)
    if (OPEN_PATHS.has(request.routeOptions.url ?? '')) return
    request.caller = callers.identify(request.headers, request.raw.socket)
    requireKind(request.caller, request, path, parts)
    if (parts.following) requireRoute(parts.following, request)
    parts.superseded.requireRoute(request)
  })
  app.setErrorHandler((error: Error, request, reply) => {
    const {status, headers, body, message} = answerOf(error, request.url)
    request.refusal = message
    // A link that works once is opened by a browser, too.
    if (request.url.startsWith('/flexrack/ui/') || isLoginLink(request))
      return reply
        .code(status)
        .headers({...headers, ...PAGE_HEADERS})
        .type('text/html; charset=utf-8')
        .send(errorPage({status, message}))
    return reply.code(status).headers(headers).type('application/json').send(JSON.stringify(body))
  })
  app.setNotFoundHandler((request) => {
    throw new Failure(404, 'NOT_FOUND', `there is nothing at ${pathOf(request.url)}`)
  })
  addApi(app, parts, logins)
  addFollow(app, parts)
  addSuperseded(app, parts)
  addAgentApi(app, parts)
  addHandRoutes(app, parts, logins)
  addPages(app, parts, logins)
  addJoint(app, parts)
  addPeople(app, parts)
  addAuditApi(app, parts)
  app.addHook('preClose', async () => gateway.end())
  app.addHook('onClose', () => gateway.close())
  await addMlflow(app, parts)
  return {app, listener}
}

function secureServer({key, certificate}: Identity, listener: RequestListener): Server {
  const options = {key, cert: certificate, handshakeTimeout: HANDSHAKE_MS, ALPNCallback: chooseProtocol}
  return createSecureServer({...options, allowHalfOpen: true}, listener)
}

const OF_RUNS = new Set(['tokens', 'claims', 'holdings'].map((one) => `/flexrack/v1/${one}/self`))

/**
 * Which routes a kind of token is for at all; what a run may do there is decided behind its route. It goes by the route
 * that the router chose: reading the path a second time could come to another conclusion.
 */
function requireKind(caller: Caller, request: FastifyRequest, path: string, {people}: Parts): void {
  if (caller.kind === 'admin') return
  if (caller.kind === 'user' && personOf(caller, people)?.role === 'admin') return
  const route = request.routeOptions.url
  // Not an endpoint's: its clients share it, and none may end it for the others.
  if (caller.kind === 'run' && route !== undefined && OF_RUNS.has(route)) return
  if (caller.kind === 'standby' && route?.startsWith('/flexrack/v1/follow')) return
  if (caller.kind === 'node' && route === AGENT_PATH) return
  if (caller.kind === 'metrics' && (route === METRICS_PATH || route === SD_PATH) && request.method === 'GET') return
  if (caller.kind === 'joint' && route === VERDICT_PATH) return
  if (caller.kind === 'user' && isOpenToUsers(request)) return
  const isPerson = caller.kind === 'personal' || caller.kind === 'user'
  if (isPerson && route === '/*' && (isTrackingApi(request.method, path) || isWorkspaces(path))) return
  if (caller.kind === 'session' && caller.opens && route?.startsWith('/flexrack/ui/')) return
  // All projects are open there: a session goes on no longer than its user is an admin.
  const isAdmins = caller.kind === 'session' && (caller.user === undefined || people.user(caller.user)?.admin === true)
  const isLogging = caller.kind === 'run' || (isAdmins && !caller.opens)
  if (isLogging && route === '/*' && !isOurs(path)) return
  if (caller.kind === 'user') throw takesAdmin(`${request.method} ${path}`, caller.user)
  throw new Failure(403, 'REFUSED', `a token of kind ${caller.kind} does not open ${path}`)
}
