import type {FastifyRequest} from 'fastify'
import type {HeadRole} from '../../../protocol/index.ts'
import {Failure} from '../failure.ts'
import type {Caller} from '../tokens/token-kinds.ts'
import type {People} from './people.ts'
import {lower, may, VERBS, type Verb} from './roles.ts'

/** Of MLflow's own clients: the workspace, which is a project here. */
export const PROJECT_HEADER = 'x-mlflow-workspace'
/** Of ours: the project that it works in, whether it has roles or not. */
const OWN_HEADER = 'flexrack-project'

/** Who asks, in which project, and what they may there. */
export interface Person {
  /** Null: whoever has the admin token, which is who administers the head's account. */
  user: string | null
  teams: string[]
  /** Null: none is meant. */
  project: string | null
  /** In that project; without one an admin's, or null. */
  role: HeadRole | null
}

/**
 * Whose request it is: `project` where a route knows it, else the one that the token is for, or that the request names.
 * Undefined of who is no person (a node, a monitor, an endpoint's client). Errors: 403 where a token for one project names
 * another.
 */
export function callerOf(
  request: Pick<FastifyRequest, 'caller' | 'headers'>,
  people: People,
  project?: string,
): Person | undefined {
  return personOf(request.caller, people, project ?? namedProject(request))
}

export function personOf(caller: Caller | undefined, people: People, named?: string): Person | undefined {
  if (caller?.kind === 'admin') return {user: null, teams: [], project: named ?? null, role: 'admin'}
  if (caller?.kind !== 'user') return undefined
  const {user, project: only, role: most} = caller
  if (only !== undefined && named !== undefined && named !== only)
    throw new Failure(403, 'REFUSED', `this token is for project ${only}, not for ${named}`)
  const project = only ?? named ?? null
  const isAdmin = people.user(user)?.admin === true && only === undefined
  const role = project === null ? (isAdmin ? 'admin' : null) : people.roleOf(user, project)
  // A token for one project is for no more than its maintenance: the rack's administration is not a project's.
  const capped = lower(role, only !== undefined && most === undefined ? 'maintainer' : most)
  return {user, teams: people.teamsOf(user), project, role: capped}
}

/**
 * A run goes on with what its user may now: whoever was taken out of a project reads on by no token of a run of theirs.
 * Errors: 403.
 */
export function requireRunUser({user, project}: Extract<Caller, {kind: 'run'}>, verb: Verb, people: People): void {
  if (user === undefined || project === undefined || !people.project(project)) return
  requireMay({user, teams: [], project, role: people.roleOf(user, project)}, verb, 'own')
}

/** The projects that a user's token opens, with its role in each. */
export function rolesOf(caller: Extract<Caller, {kind: 'user'}>, people: People): Map<string, HeadRole> {
  const names = Object.keys(people.all.projects).filter((name) => (caller.project ?? name) === name)
  const roles = names.map((name) => [name, personOf(caller, people, name)!.role] as const)
  return new Map(roles.filter((one): one is [string, HeadRole] => one[1] !== null))
}

/** Throws 403 with the role that it takes. */
export function requireMay(person: Person | undefined, verb: Verb, whose: 'own' | 'others'): void {
  if (person && may(person.role, verb, whose)) return
  const takes = VERBS[verb][whose]
  const where = person?.project ? ` of project ${person.project}` : ''
  const least = takes === 'admin' ? 'an admin of the rack' : `a ${takes}${where}`
  const what = whose === 'own' ? verb : `${verb} of somebody else's`
  const who = person?.user ?? 'this token'
  throw new Failure(403, 'REFUSED', `${what} takes ${least}, and ${who} is ${person?.role ?? 'none'}`)
}

/** For a user who asks for what is the rack's. */
export function takesAdmin(what: string, user: string): Failure {
  return new Failure(403, 'REFUSED', `${what} takes an admin of the rack, and ${user} is none`)
}

/** The project that a request is about, as it says. */
export function namedProject({headers}: Pick<FastifyRequest, 'headers'>): string | undefined {
  const value = headers[PROJECT_HEADER] ?? headers[OWN_HEADER]
  return typeof value === 'string' && value !== '' ? value : undefined
}
