import type {HeadRole} from '../../../protocol/index.ts'
import type {Owner} from '../tokens/browser-login.ts'
import type {MlflowPlace} from '../tracking/mlflow-reader.ts'
import type {Parts} from '../parts.ts'
import {personOf, rolesOf} from '../people/person.ts'

/** A user who is no admin, and what they may see of what the head knows by itself: these projects, with their role in each. */
export interface PageUser {
  name: string
  roles: ReadonlyMap<string, HeadRole>
  /** The token's that it was opened by, where that is for less than all its user may: they see no other one. */
  token: string | undefined
}

/** Undefined: an admin, who sees everything. */
export function pageUser(owner: Owner, {people}: Pick<Parts, 'people'>): PageUser | undefined {
  if (!owner || personOf(owner, people)?.role === 'admin') return undefined
  const {id, user, project, role} = owner
  return {
    name: user,
    // as they are when they are asked for: a page may stay open for days
    get roles() {
      return rolesOf(owner, people)
    },
    token: (project ?? role) === undefined ? undefined : id,
  }
}

interface Seeing {
  user: PageUser | undefined
  parts: Pick<Parts, 'people' | 'mlflow'>
}

/**
 * Where at MLflow a run of a project is: in its workspace, or, of before `project add`, in the default one, which is the
 * admins'. Empty: nowhere that this one sees.
 */
export function placesOf(project: string | null, {user, parts: {people, mlflow}}: Seeing): MlflowPlace[] {
  const {socket} = mlflow
  const workspace = project !== null && people.hasWorkspaces && people.project(project) ? project : undefined
  const own = workspace === undefined ? [] : [{socket, workspace}]
  if (user) return workspace !== undefined && user.roles.has(workspace) ? own : []
  return [...own, socket]
}

/** All of them, each with its project. */
export function allPlaces({user, parts: {people, mlflow}}: Seeing): {project: string | null; place: MlflowPlace}[] {
  const {socket} = mlflow
  const names = people.hasWorkspaces ? Object.keys(people.all.projects) : []
  return [
    ...(user ? [] : [{project: null, place: socket}]),
    ...names
      .filter((name) => !user || user.roles.has(name))
      .map((name) => ({project: name, place: {socket, workspace: name}})),
  ]
}
