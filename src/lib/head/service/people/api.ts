import type {FastifyInstance, FastifyRequest} from 'fastify'
import type {PeopleFacts, WhoAmI} from '../../types.ts'
import {readObject, type BodyOf} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'
import {keysOf} from './keys.ts'
import {addLogins} from './login-api.ts'
import {personOf, requireMay, rolesOf} from './person.ts'
import {addProviders} from './providers-api.ts'
import {isRole} from './roles.ts'
import {addUserTokens, tokenFacts} from './token-api.ts'

const LARGEST_BODY = 256 * 1024
const PATH = '/flexrack/v1/people'
type Named = {Params: {name: string}}

/** Users, teams, projects: read by whom they concern, changed by who may (roles.ts); every change is written down. */
export function addPeople(app: FastifyInstance, parts: Parts): void {
  const {people, tokens} = parts
  const bodyOf: BodyOf = (request) => readObject(request, LARGEST_BODY, parts.limits)
  app.get('/flexrack/v1/whoami', (request) => whoAmI(request, parts))
  app.get(PATH, (request) => peopleFacts(request, parts))

  const change = async (
    request: FastifyRequest<Named>,
    work: (name: string, body: Record<string, unknown>) => Promise<void>,
  ): Promise<object> => {
    const {name} = request.params
    requireMay(personOf(request.caller, people), 'people.change', 'others')
    const body = await bodyOf(request)
    await work(name, body)
    return {}
  }
  app.put<Named>(`${PATH}/users/:name`, (request) =>
    change(request, async (name, {admin, keys, change: isChange}) => {
      if (admin !== undefined && typeof admin !== 'boolean') throw new Failure(400, 'USAGE', 'admin is true or false')
      const given = keys === undefined ? undefined : keysOf(keys)
      if (isChange === true)
        await people.changeUser(name, {...(admin !== undefined && {admin}), ...(given && {keys: given})})
      else await people.addUser(name, {admin: admin === true, keys: given ?? [], source: 'admin'})
    }),
  )
  app.delete<Named>(`${PATH}/users/:name`, (request) =>
    change(request, async (name) => {
      await people.removeUser(name)
      await tokens.revokeUser(name)
    }),
  )
  app.put<Named>(`${PATH}/teams/:name`, (request) =>
    change(request, (name, {members = []}) => {
      if (!Array.isArray(members) || !members.every((one) => typeof one === 'string'))
        throw new Failure(400, 'USAGE', 'members is a list of names')
      return people.setTeam(name, members as string[])
    }),
  )
  app.delete<Named>(`${PATH}/teams/:name`, (request) => change(request, (name) => people.removeTeam(name)))
  app.put<Named>(`${PATH}/projects/:name`, (request) =>
    change(request, async (name) => {
      const isFirst = !people.hasWorkspaces
      await people.addProject(name)
      if (isFirst) await parts.mlflow.restart()
    }),
  )
  app.delete<Named>(`${PATH}/projects/:name`, (request) => change(request, (name) => people.removeProject(name)))
  app.put<Named>(`${PATH}/projects/:name/roles`, async (request) => {
    const {name} = request.params
    requireMay(personOf(request.caller, people, name), 'project.grant', 'own')
    const {to, role} = await bodyOf(request)
    if (typeof to !== 'string' || (role !== null && !isRole(role)))
      throw new Failure(
        400,
        'USAGE',
        'a grant has to (user:NAME, team:NAME, everyone) and role (viewer, member, maintainer, or null)',
      )
    request.about = `${name}: ${to} ${role ?? 'nothing'}`
    await people.grant(name, to, role)
    return {}
  })
  addUserTokens(app, parts, bodyOf)
  addProviders(app, parts, bodyOf)
  addLogins(app, parts, bodyOf)
}

function whoAmI({caller}: FastifyRequest, {people, tokens}: Parts): WhoAmI {
  if (caller?.kind !== 'user') {
    const projects = Object.fromEntries(Object.keys(people.all.projects).map((name) => [name, 'admin' as const]))
    return {user: null, admin: true, teams: [], projects, token: null}
  }
  const {user, id} = caller
  const kept = tokens.ofUser(id)
  return {
    user,
    admin: personOf(caller, people)!.role === 'admin',
    teams: people.teamsOf(user),
    projects: Object.fromEntries(rolesOf(caller, people)),
    token: kept ? tokenFacts(id, kept) : null,
  }
}

function factsOf({people, tokens}: Pick<Parts, 'people' | 'tokens'>): PeopleFacts {
  const {users, teams, projects} = people.all
  const used = (name: string): number | null =>
    Math.max(0, ...tokens.ofUsers(name).map(([, {lastUsedAt = 0}]) => lastUsedAt)) || null
  return {
    users: Object.fromEntries(
      Object.entries(users).map(([name, {admin, source, createdAt, keys}]) => [
        name,
        {admin, source, createdAt, keys: keys.length, teams: people.teamsOf(name), lastUsedAt: used(name)},
      ]),
    ),
    teams: Object.fromEntries(Object.entries(teams).map(([name, {members, provided}]) => [name, {members, provided}])),
    projects: Object.fromEntries(Object.entries(projects).map(([name, {roles}]) => [name, {roles}])),
  }
}

function peopleFacts({caller}: FastifyRequest, parts: Parts): PeopleFacts {
  const person = personOf(caller, parts.people)
  const roles = caller?.kind === 'user' ? rolesOf(caller, parts.people) : new Map<string, never>()
  return factsFor(person?.role === 'admin' ? undefined : {name: person?.user ?? '', roles}, parts)
}

/** A user who is no admin sees themselves, their teams, and the projects that they have a role in. */
export function factsFor(
  user: {name: string; roles: ReadonlyMap<string, unknown>} | undefined,
  parts: Pick<Parts, 'people' | 'tokens'>,
): PeopleFacts {
  const all = factsOf(parts)
  if (!user) return all
  const teams = parts.people.teamsOf(user.name)
  const own = <T>(of: Record<string, T>, isMine: (name: string) => boolean): Record<string, T> =>
    Object.fromEntries(Object.entries(of).filter(([name]) => isMine(name)))
  return {
    users: own(all.users, (name) => name === user.name),
    teams: own(all.teams, (name) => teams.includes(name)),
    projects: own(all.projects, (name) => user.roles.has(name)),
  }
}
