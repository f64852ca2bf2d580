import {join} from 'node:path'
import type {HeadPeople, HeadProject, HeadRole, HeadTeam, HeadUser} from '../../../protocol/index.ts'
import {readDurable, Turns, writeDurably} from '../files/durable.ts'
import {Failure} from '../failure.ts'
import {nameOf} from './names.ts'
import {highest} from './roles.ts'

/** Of roles in a project: everybody who may log in. They are no more than viewers: new users come by themselves. */
const EVERYONE = 'everyone'
const EMPTY: HeadPeople = {users: {}, teams: {}, projects: {}}

/** Users, teams, and projects with their roles: one file, as a change may concern all three. Each change is on disk when it resolves. */
export class People {
  readonly #file: string
  readonly #turns = new Turns()
  #kept: HeadPeople

  private constructor(file: string, kept: HeadPeople) {
    this.#file = file
    this.#kept = kept
  }

  /** Throws where they are there and cannot be read. */
  static async open(folder: string): Promise<People> {
    const file = join(folder, 'people.json')
    return new People(file, await readDurable('head.people', file, EMPTY))
  }

  /** Of a standby, which answers endpoints only. */
  static following(): People {
    return new People('', EMPTY)
  }

  /** A rack whose admin has named nobody is one person's. */
  get isEmpty(): boolean {
    return Object.keys(this.#kept.users).length + Object.keys(this.#kept.projects).length === 0
  }

  /** MLflow keeps projects apart from the first one on, also once there is none any more: what they had stays where it is. */
  get hasWorkspaces(): boolean {
    return this.#kept.workspaces === true
  }

  /** As they are now; not to be changed. */
  get all(): Readonly<HeadPeople> {
    return this.#kept
  }

  user(name: string): HeadUser | undefined {
    return own(this.#kept.users, name)
  }

  project(name: string): HeadProject | undefined {
    return own(this.#kept.projects, name)
  }

  /** By what its provider calls it. */
  userBySubject(subject: string): string | undefined {
    return Object.entries(this.#kept.users).find(([, one]) => one.subject === subject)?.[0]
  }

  teamsOf(user: string): string[] {
    return Object.entries(this.#kept.teams)
      .filter(([, {members, provided}]) => members.includes(user) || provided.includes(user))
      .map(([name]) => name)
      .toSorted()
  }

  /** Null: none. */
  roleOf(user: string, project: string): HeadRole | null {
    const {admin} = this.user(user) ?? {}
    if (admin === undefined) return null
    if (admin) return 'admin'
    const roles = this.project(project)?.roles ?? {}
    return highest([
      own(roles, EVERYONE),
      own(roles, `user:${user}`),
      ...this.teamsOf(user).map((team) => own(roles, `team:${team}`)),
    ])
  }

  /** Errors: 400 for a name that is none, 409 where there is one. */
  addUser(name: string, user: Omit<HeadUser, 'createdAt'>): Promise<void> {
    return this.#change((next) => {
      if (own(next.users, nameOf('user', name))) throw new Failure(409, 'CONFLICT', `there is a user ${name} already`)
      next.users[name] = {...user, createdAt: Date.now()}
    })
  }

  changeUser(name: string, change: Partial<Pick<HeadUser, 'admin' | 'keys'>>): Promise<void> {
    return this.#change((next) => Object.assign(there(next.users, 'user', name), change))
  }

  removeUser(name: string): Promise<void> {
    return this.#change((next) => {
      there(next.users, 'user', name)
      delete next.users[name]
      for (const team of Object.values(next.teams)) {
        team.members = team.members.filter((one) => one !== name)
        team.provided = team.provided.filter((one) => one !== name)
      }
      for (const {roles} of Object.values(next.projects)) delete roles[`user:${name}`]
    })
  }

  /** Makes the team where there is none; `members`: whom an admin puts in, and no others. Errors: 404 for who is no user. */
  setTeam(name: string, members: readonly string[]): Promise<void> {
    return this.#change((next) => {
      for (const one of members) there(next.users, 'user', one)
      teamOf(next, name).members = [...new Set(members)].toSorted()
    })
  }

  /** Puts a user into the teams that its provider's groups mean, and out of the others that they had meant. */
  setProvided(user: string, teams: readonly string[]): Promise<void> {
    return this.#change((next) => {
      there(next.users, 'user', user)
      for (const name of teams) teamOf(next, name)
      for (const [name, team] of Object.entries(next.teams)) {
        const others = team.provided.filter((one) => one !== user)
        team.provided = teams.includes(name) ? [...others, user].toSorted() : others
      }
    })
  }

  removeTeam(name: string): Promise<void> {
    return this.#change((next) => {
      there(next.teams, 'team', name)
      delete next.teams[name]
      for (const {roles} of Object.values(next.projects)) delete roles[`team:${name}`]
    })
  }

  addProject(name: string): Promise<void> {
    return this.#change((next) => {
      if (own(next.projects, nameOf('project', name)))
        throw new Failure(409, 'CONFLICT', `there is a project ${name} already`)
      next.workspaces = true
      next.projects[name] = {roles: {}, createdAt: Date.now()}
    })
  }

  /** `role` null takes it away. Errors: 404 for a project or a person who is not there, 400 for what cannot be given. */
  grant(project: string, to: string, role: HeadRole | null): Promise<void> {
    return this.#change((next) => {
      const {roles} = there(next.projects, 'project', project)
      const [, kind, name = ''] = /^(user|team):([^:]+)$/.exec(to) ?? []
      if (kind === 'user' && role !== null) there(next.users, 'user', name)
      else if (kind === 'team' && role !== null) there(next.teams, 'team', name)
      if (kind === undefined && to !== EVERYONE)
        throw new Failure(400, 'USAGE', 'a role is for user:NAME, team:NAME or everyone')
      if (role === 'admin') throw new Failure(400, 'USAGE', 'an admin is one of the whole rack: user add --admin')
      if (to === EVERYONE && role !== null && role !== 'viewer')
        throw new Failure(400, 'USAGE', 'everyone can be a viewer, and no more')
      if (role === null) delete roles[to]
      else roles[to] = role
    })
  }

  removeProject(name: string): Promise<void> {
    return this.#change((next) => {
      there(next.projects, 'project', name)
      delete next.projects[name]
    })
  }

  /** What holds is what is on disk: nobody is let in by a change that would be gone after a crash. */
  #change(work: (next: HeadPeople) => void): Promise<void> {
    return this.#turns.take(async () => {
      const next = structuredClone(this.#kept)
      work(next)
      await writeDurably('head.people', this.#file, next)
      this.#kept = next
    })
  }
}

function teamOf(next: HeadPeople, name: string): HeadTeam {
  return (
    own(next.teams, nameOf('team', name)) ?? (next.teams[name] = {members: [], provided: [], createdAt: Date.now()})
  )
}

function there<T>(kept: Record<string, T>, what: string, name: string): T {
  const found = own(kept, name)
  if (!found) throw new Failure(404, 'NOT_FOUND', `there is no ${what} ${name}`)
  return found
}

function own<T>(kept: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(kept, name) ? kept[name] : undefined
}
