import replyFrom from '@fastify/reply-from'
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {requireArtifacts} from './artifact-paths.ts'
import {parseObject, readBody} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import {openLookup} from './mlflow-reader.ts'
import {openRegistry} from './mlflow-registry.ts'
import {backwardHeaders, onwardHeaders} from '../onward.ts'
import {openOwnRun, OWN_RUN_HEADER} from './own-run.ts'
import type {Parts} from '../parts.ts'
import {failureOf, passBody} from '../limits/passing.ts'
import {isOurs, pathOf} from '../path.ts'
import {checkPersonalScope} from './scope-personal.ts'
import {answerWorkspaces, openDoor, type Door} from '../people/door.ts'
import {PROJECT_HEADER} from '../people/person.ts'
import {checkUserScope} from '../people/scope-user.ts'
import {USER_TAG} from './scope-tags.ts'
import {checkRunScope, type Lookup, type RunCall, type Verdict} from './scope.ts'

/** MLflow itself takes 1 MB a log-batch; models' descriptions and traces may be larger. */
const LARGEST_CALL = 64 * 1024 * 1024
/** What is parsed here, which holds everybody else up meanwhile: calls of a run, whose scope is looked at. */
const LARGEST_PARSED = 4 * 1024 * 1024
const LARGEST_ARTIFACT = 256 * 1024 ** 3
const ANSWER_MS = 300_000
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * Everything else goes to MLflow: its API, and its pages for a browser that logged in. Artifacts are streamed both
 * ways.
 */
export async function addMlflow(app: FastifyInstance, parts: Parts): Promise<void> {
  await app.register(replyFrom, {
    base: 'http://localhost',
    undici: {connect: {socketPath: parts.mlflow.socket, timeout: 2000}, connections: 64, keepAliveTimeout: 4000},
    disableRequestLogging: true,
    disableCache: true,
    retryMethods: [],
    destroyAgent: true,
  })
  const lookupOf = openLookups(parts)
  const forward = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = pathOf(request.url)
    if (isOurs(path)) throw new Failure(404, 'NOT_FOUND', `there is nothing at ${path}`)
    const isArtifact = request.method === 'PUT' && path.startsWith('/api/2.0/mlflow-artifacts/artifacts/')
    if (!parts.mlflow.isReady)
      throw new Failure(
        503,
        'HEAD_FAILED',
        `the tracking server is not ready yet (${parts.mlflow.status.state}); try again in a moment`,
      )
    const listed = answerWorkspaces(request, path, parts)
    if (listed) return reply.send(listed)
    const door = await openDoor(request, path, parts)
    const isPerson = request.caller?.kind === 'personal' || request.caller?.kind === 'user'
    if (isPerson || request.caller?.kind === 'run') requireArtifacts(path, queryOf(request), door.workspace)
    const isParsed = request.caller?.kind === 'run' || request.caller?.kind === 'user'
    const given =
      isArtifact || request.body === undefined
        ? undefined
        : await readBody(request, isParsed ? LARGEST_PARSED : LARGEST_CALL, parts.limits)
    const verdict = await verdictOf(request, path, given, door, lookupOf)
    if (isPerson && request.method !== 'GET' && given) checkPersonalScope(path, () => parseObject(given))
    if (verdict.answer) return reply.send(verdict.answer)
    const body = verdict.body ? Buffer.from(JSON.stringify(verdict.body)) : given
    if (body !== undefined && request.caller?.kind !== 'admin' && grows(request.method, path))
      await parts.limits.room.requireWrite(body.length)
    if (isArtifact) await passBody(request, parts.config.largestArtifact ?? LARGEST_ARTIFACT, parts.limits, true)
    const sends = body !== undefined && request.method !== 'GET' && request.method !== 'HEAD'
    return reply.from(request.url, {
      ...(sends && {body, contentType: request.headers['content-type'] ?? 'application/octet-stream'}),
      timeout: ANSWER_MS,
      rewriteRequestHeaders: (_request, headers) =>
        mlflowHeaders(headers, request.method !== 'GET' && request.method !== 'HEAD', door.workspace),
      rewriteHeaders: (headers) => backwardHeaders(headers),
      onError: (_reply, {error}) => void reply.send(failureOf(error) ?? toFailure(error)),
    })
  }
  app.route({method: [...METHODS], url: '/*', handler: forward})
}

/** What the policies ask of MLflow, by workspace. */
export function openLookups({mlflow}: Pick<Parts, 'mlflow'>): (workspace: string | undefined) => Lookup {
  const kept = new Map<string | undefined, Lookup>()
  return (workspace) => {
    const place = workspace === undefined ? mlflow.socket : {socket: mlflow.socket, workspace}
    const lookup = kept.get(workspace) ?? {...openLookup(place), ...openRegistry(place), ...openOwnRun(place)}
    kept.set(workspace, lookup)
    return lookup
  }
}

async function verdictOf(
  request: FastifyRequest,
  path: string,
  given: Buffer | undefined,
  {person, workspace}: Door,
  lookupOf: ReturnType<typeof openLookups>,
): Promise<Verdict> {
  const {caller} = request
  if (caller?.kind !== 'run' && !person) return {}
  const [call, lookup] = [callOf(request, path, given), lookupOf(workspace)]
  if (caller?.kind === 'run') return ofUser(await checkRunScope(caller, call, lookup), path, caller.user)
  const body = person && (await checkUserScope(person, call, lookup))
  return body ? {body} : {}
}

/** What a run of a user makes is that user's. */
function ofUser(verdict: Verdict, path: string, user: string | undefined): Verdict {
  const {body} = verdict
  if (body === undefined || user === undefined || !path.endsWith('/runs/create')) return verdict
  return {body: {...body, tags: [...((body.tags as object[] | undefined) ?? []), {key: USER_TAG, value: user}]}}
}

/**
 * True of calls that add to MLflow's database. A run that ends says so in `runs/update`, which must find room when
 * nothing else does.
 */
function grows(method: string, path: string): boolean {
  return (
    method !== 'GET' &&
    method !== 'HEAD' &&
    method !== 'DELETE' &&
    !/\/(?:search|runs\/update|get-latest-versions|get-history-bulk-interval)$/.test(path)
  )
}

function queryOf({url}: FastifyRequest): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1))
}

function callOf(request: FastifyRequest, path: string, given: Buffer | undefined): RunCall {
  return {
    method: request.method,
    path,
    query: queryOf(request),
    hasNoRun: request.headers[OWN_RUN_HEADER] === 'none',
    body: () => parseObject(given ?? Buffer.alloc(0)),
  }
}

/** MLflow needs no token, and its own checks of Host and Origin are made for a server that stands in the open. */
function mlflowHeaders(
  headers: Record<string, unknown>,
  sends: boolean,
  workspace: string | undefined,
): Record<string, string> {
  const {origin: _origin, referer: _referer, ...rest} = onwardHeaders(headers, sends, PROJECT_HEADER)
  return {...rest, host: 'localhost', ...(workspace !== undefined && {[PROJECT_HEADER]: workspace})}
}

/** Whether the call was done is not known: a client that tries again does no harm with MLflow's writes. */
function toFailure(error: Error): Failure {
  return new Failure(502, 'HEAD_FAILED', `the tracking server went away in mid-call (${error.message})`)
}
