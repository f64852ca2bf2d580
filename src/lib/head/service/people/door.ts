import type {FastifyRequest} from 'fastify'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'
import {isTrackingApi} from '../tracking/open-calls.ts'
import {onlyReads} from '../tracking/scope-calls.ts'
import {callerOf, namedProject, requireRunUser, type Person} from './person.ts'
import {requireWorkspace} from './workspaces.ts'

/** In which of MLflow's workspaces a call is, and as whom; without a workspace it is in the default one. */
export interface Door {
  workspace?: string
  /** Of a user: what the call is allowed by. */
  person?: Person
}

/**
 * What the client says of workspaces does not go on to MLflow: a run's is what its token says, a user's is one in which
 * they have a role. Errors: 403, 404.
 */
export async function openDoor(request: FastifyRequest, path: string, parts: Parts): Promise<Door> {
  const {people} = parts
  const {caller} = request
  const person = caller?.kind === 'user' ? requireProject(callerOf(request, people)) : undefined
  if (!people.hasWorkspaces) return {...(person && {person})}
  if (caller?.kind === 'run') requireRunUser(caller, onlyReads(request.method, path) ? 'run.read' : 'run.write', people)
  const only = caller?.kind === 'run' || caller?.kind === 'personal' ? caller.project : undefined
  const named = caller?.kind === 'run' ? only : (only ?? namedProject(request))
  const workspace = person ? (person.project ?? undefined) : named
  if (workspace === undefined || workspace === 'default') return {...(person && {person})}
  // Ours names the project that it works in, whether it has roles or not. A token for one that is gone opens no other.
  if (!people.project(workspace)) {
    if (person || only !== undefined || request.headers['x-mlflow-workspace'] !== undefined)
      throw new Failure(404, 'NOT_FOUND', `there is no project ${workspace}`)
    return {}
  }
  if (person && !isTrackingApi(request.method, path)) throw new Failure(403, 'REFUSED', `${path} is not open to users`)
  await requireWorkspace(parts, workspace)
  return {workspace, ...(person && {person})}
}

/** True of what MLflow calls its workspaces, however the rest of the path is written. */
export function isWorkspaces(path: string): boolean {
  return /^\/(?:ajax-)?api\/3\.0\/mlflow\/workspaces(?:[/%;]|$)/.test(path)
}

/** The projects that a user sees, as MLflow lists its workspaces; undefined for other calls. Changes are the head's. Errors: 403. */
export function answerWorkspaces(
  {method, caller}: FastifyRequest,
  path: string,
  {people}: Pick<Parts, 'people'>,
): object | undefined {
  if (!isWorkspaces(path) || caller?.kind === 'admin') return undefined
  if (method !== 'GET') throw new Failure(403, 'REFUSED', 'projects are made and removed with flexrack project')
  const only = caller && 'project' in caller ? caller.project : undefined
  const ofRun = caller?.kind === 'run' && people.hasWorkspaces
  if (caller?.kind !== 'user' && !ofRun && only === undefined) return undefined
  const projects = Object.keys(people.all.projects).filter((one) => (only ?? one) === one)
  const ofUser = caller?.kind === 'user' ? projects.filter((one) => people.roleOf(caller.user, one) !== null) : projects
  // A run of no project that is kept apart is in MLflow's default one, and hears of no other.
  const visible = ofRun && only === undefined ? ['default'] : ofUser
  const one = path.split('/')[5]
  if (one === undefined) return {workspaces: visible.map((name) => ({name}))}
  if (!visible.includes(one)) throw new Failure(404, 'NOT_FOUND', `there is no project ${one}`)
  return {workspace: {name: one}}
}

function requireProject(person: Person | undefined): Person {
  if (person && person.role !== null) return person
  const hint = 'name it: export MLFLOW_WORKSPACE=PROJECT'
  const why = person?.project
    ? `${person.user} has no role in project ${person.project}`
    : `which project is meant? ${hint}`
  throw new Failure(403, 'REFUSED', why)
}
