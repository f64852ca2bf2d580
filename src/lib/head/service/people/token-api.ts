import type {FastifyInstance, FastifyRequest} from 'fastify'
import type {HeadToken} from '../../../protocol/index.ts'
import type {MadeToken, UserToken} from '../../types.ts'
import type {BodyOf} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import {openLookups} from '../tracking/mlflow-routes.ts'
import type {Parts} from '../parts.ts'
import type {Caller} from '../tokens/token-kinds.ts'
import {LONGEST_TTL_SECONDS, secondsOf} from '../tokens/token-request.ts'
import {callerOf, personOf, requireMay, type Person} from './person.ts'
import {isRole} from './roles.ts'

const TOKENS_PATH = '/flexrack/v1/people/tokens'
const LONGEST_NOTE = 200
const RECORD_SECONDS = 3600
const DEFAULT_SECONDS = 30 * 24 * 3600
/** Tokens that a user has at once. */
export const MOST_TOKENS = 100

/** Tokens of users: made for oneself, or by an admin for others; listed without their secrets; revoked at once. */
export function addUserTokens(app: FastifyInstance, parts: Parts, bodyOf: BodyOf): void {
  const {tokens, people} = parts
  app.get<{Querystring: {user?: string}}>(TOKENS_PATH, (request): {tokens: UserToken[]} => {
    const person = callerOf(request, people)
    const isAdmin = person?.role === 'admin'
    const of = isAdmin ? request.query.user : (person?.user ?? undefined)
    const found = tokens.ofUsers(of).filter(([id]) => isAdmin || reachesToken(request.caller, id))
    return {tokens: found.map(([id, kept]) => tokenFacts(id, kept))}
  })
  app.post(TOKENS_PATH, async (request): Promise<MadeToken> => {
    const person = personOf(request.caller, people)
    const body = await bodyOf(request)
    if (isBound(request.caller)) throw new Failure(403, 'REFUSED', 'a token for one project or role makes no others')
    const user = body.user ?? person?.user
    if (typeof user !== 'string' || !people.user(user))
      throw new Failure(
        user === undefined || user === null ? 400 : 404,
        'NOT_FOUND',
        'a token is for a user of this rack',
      )
    if (user !== person?.user) requireMay(person, 'token.create', 'others')
    request.about = user
    return makeToken(parts, user, body)
  })
  // For a node that completes records in somebody's name: no more than the project; null where it is not kept apart.
  app.post('/flexrack/v1/people/record-token', async (request): Promise<{token: string | null}> => {
    const {project} = await bodyOf(request)
    if (typeof project !== 'string' || !people.project(project)) return {token: null}
    const {caller} = request
    if (caller?.kind !== 'user')
      return tokens.issue({project, ttl_seconds: RECORD_SECONDS, kind: 'personal', name: `records of ${project}`})
    personOf(caller, people, project) // 403 where its token is for another one
    // Nor does it live longer than the token that it comes of, which would go on for ever by one of the other.
    const {expiresAt: latest = 0, parent = caller.id} = tokens.ofUser(caller.id) ?? {}
    const ttl = Math.min(RECORD_SECONDS, (latest - Date.now()) / 1000)
    const wish = {project, role: caller.role, note: 'records of runs', ttl_seconds: ttl}
    return makeToken(parts, caller.user, wish, {latest, parent})
  })
  app.delete<{Params: {id: string}}>(`${TOKENS_PATH}/:id`, async (request) => {
    const {id} = request.params
    const person = personOf(request.caller, people)
    const kept = tokens.ofUser(id)
    // Whose tokens there are is not told to who may not end them.
    const isTheirs = kept?.user === person?.user && reachesToken(request.caller, id)
    if (!kept || (!isTheirs && person?.role !== 'admin')) throw new Failure(404, 'NOT_FOUND', `no token ${id}`)
    request.about = `${id} of ${kept.user}`
    await tokens.revoke(id)
    return {}
  })
}

/** For one project or role only. */
function isBound(caller: Caller | undefined): boolean {
  return caller?.kind === 'user' && (caller.project ?? caller.role) !== undefined
}

/** Of a user's tokens: one that is for less than all its user may does nothing to the others. */
function reachesToken(caller: Caller | undefined, id: string): boolean {
  return !isBound(caller) || (caller?.kind === 'user' && caller.id === id)
}

/** The token that was not used for the longest time. */
function leastUsed(tokens: readonly [id: string, kept: HeadToken][]): string | undefined {
  const lastUse = ([, {lastUsedAt, createdAt}]: (typeof tokens)[number]): number => lastUsedAt ?? createdAt ?? 0
  return tokens.toSorted((a, b) => lastUse(a) - lastUse(b))[0]?.[0]
}

/**
 * `isLogin`: of somebody who has just proved who they are, and who would have no way to end a token; where there are too
 * many, the one that was not used for the longest time ends. `latest`: when it has ended at the latest, milliseconds
 * since 1970; `parent`: the token with which it is revoked. Errors: 400 for what cannot be meant, 404, 409 for too many.
 */
export async function makeToken(
  {tokens, people}: Pick<Parts, 'tokens' | 'people'>,
  user: string,
  {project, role, note = '', ttl_seconds: ttl}: Record<string, unknown>,
  {isLogin = false, latest = Infinity, parent}: {isLogin?: boolean; latest?: number; parent?: string} = {},
): Promise<MadeToken> {
  if (typeof note !== 'string' || note.length > LONGEST_NOTE)
    throw new Failure(400, 'USAGE', `a note has ${LONGEST_NOTE} characters at most`)
  if (project !== undefined && (typeof project !== 'string' || !people.project(project)))
    throw new Failure(404, 'NOT_FOUND', `there is no project ${String(project)}`)
  if (role !== undefined && !isRole(role))
    throw new Failure(400, 'USAGE', 'a role is viewer, member, maintainer or admin')
  const seconds = secondsOf(ttl ?? DEFAULT_SECONDS)
  if (seconds > LONGEST_TTL_SECONDS)
    throw new Failure(400, 'USAGE', `a token ends after ${LONGEST_TTL_SECONDS / 86_400} days at the latest`)
  const had = tokens.ofUsers(user)
  if (had.length >= MOST_TOKENS) {
    const longest = isLogin ? leastUsed(had) : undefined
    if (longest === undefined)
      throw new Failure(
        409,
        'CONFLICT',
        `${user} has ${had.length} tokens, and ${MOST_TOKENS} is the most: revoke some (flexrack token list, flexrack token revoke ID)`,
      )
    await tokens.revoke(longest)
  }
  const {
    id,
    token,
    expires_at: expiresAt,
  } = await tokens.issueUser({
    user,
    name: note,
    expiresAt: Math.min(Date.now() + seconds * 1000, latest),
    ...(project !== undefined && {project}),
    ...(role !== undefined && {role}),
    ...(parent !== undefined && {parent}),
  })
  return {id, user, token, expiresAt}
}

export function tokenFacts(id: string, kept: HeadToken): UserToken {
  return {
    id,
    user: kept.user ?? '',
    note: kept.name ?? '',
    project: kept.project ?? null,
    role: kept.role ?? null,
    createdAt: kept.createdAt ?? 0,
    expiresAt: kept.expiresAt,
    lastUsedAt: kept.lastUsedAt ?? null,
  }
}

/**
 * What a token is asked for with, for who asks: a user gets one for a run of theirs and no other kind; the project is one
 * that has roles, or none. Errors: 403, 404.
 */
export function openIssuing(
  parts: Parts,
): (request: FastifyRequest, body: Record<string, unknown>) => Promise<Record<string, unknown>> {
  const lookupOf = openLookups(parts)
  return async (request, {user: _user, project, ...body}) => {
    const {people} = parts
    const known = typeof project === 'string' && people.project(project) !== undefined && project
    const asked = {...body, ...(known && {project: known})}
    if (request.caller?.kind !== 'user') return asked
    const person = personOf(request.caller, people, known || undefined) as Person
    if (person.role === 'admin' && request.caller.project === undefined) return {...asked, user: person.user}
    if (body.kind !== 'run' || !known) throw new Failure(403, 'REFUSED', 'a user gets tokens of runs in their projects')
    const run = typeof body.run_id === 'string' ? await lookupOf(known).run(body.run_id) : undefined
    if (!run || run.experiment !== body.experiment_id)
      throw new Failure(404, 'NOT_FOUND', `project ${known} has no such run`)
    requireMay(person, 'run.write', run.user === person.user ? 'own' : 'others')
    return {...asked, user: person.user}
  }
}
