import {count} from '../../lib/base/index.ts'
import type {MadeToken, PeopleFacts, UserToken, WhoAmI} from '../../lib/head/index.ts'
import {oneLine} from '../terminal/printable.ts'
import {ago, minute, table} from '../terminal/render.ts'

/** What `whoami` answers. */
export interface ShownLogin extends WhoAmI {
  rack: string
  /** What of it nodes do not enforce, in one line. */
  accounts: string
}

export interface ShownUser {
  name: string
  admin: boolean
  source: string
  teams: string[]
  keys: number
  lastUsedAt: number | null
}

export interface ShownTeam {
  name: string
  members: string[]
  provided: string[]
}

export interface ShownProject {
  name: string
  roles: Record<string, string>
}

export const usersOf = ({users}: PeopleFacts): ShownUser[] =>
  Object.entries(users).map(([name, {admin, source, teams, keys, lastUsedAt}]) => ({
    name,
    admin,
    source,
    teams,
    keys,
    lastUsedAt,
  }))

export const teamsOf = ({teams}: PeopleFacts): ShownTeam[] =>
  Object.entries(teams).map(([name, team]) => ({name, ...team}))

export const projectsOf = ({projects}: PeopleFacts): ShownProject[] =>
  Object.entries(projects).map(([name, {roles}]) => ({name, roles}))

export function usersText(users: ShownUser[]): string {
  if (users.length === 0)
    return "No users: whoever may log in to the head's node is its admin. flexrack user add NAME --key FILE"
  const rows = users.map((one) => ({
    name: one.name,
    admin: one.admin ? 'admin' : '',
    teams: one.teams.join(', '),
    login: one.source === 'admin' ? count(one.keys, 'key') : one.source,
    used: one.lastUsedAt === null ? 'never' : ago(one.lastUsedAt),
  }))
  return table(rows, ['name', 'admin', 'teams', 'login', {key: 'used', title: 'LAST USE'}])
}

export function teamsText(teams: ShownTeam[]): string {
  if (teams.length === 0) return 'No teams: flexrack team set NAME USER...'
  const rows = teams.map(({name, members, provided}) => ({
    name,
    members: members.join(', '),
    provided: provided.join(', '),
  }))
  return table(rows, ['name', 'members', {key: 'provided', title: 'BY THEIR GROUPS'}])
}

export function projectsText(projects: ShownProject[]): string {
  if (projects.length === 0)
    return 'No project has roles: all are kept together, and open to whoever reaches the head. flexrack project add NAME'
  const rows = projects.map(({name, roles}) => ({
    name,
    roles: Object.entries(roles)
      .map(([who, role]) => `${who} ${role}`)
      .join(', '),
  }))
  return table(rows, ['name', 'roles'])
}

export function tokensText(tokens: UserToken[]): string {
  if (tokens.length === 0) return 'No tokens. flexrack token create makes one'
  const rows = tokens.map((one) => ({
    id: one.id,
    user: one.user,
    note: oneLine(one.note),
    opens: [one.project, one.role].filter((word) => word !== null).join(', ') || 'all of its user',
    used: one.lastUsedAt === null ? 'never' : ago(one.lastUsedAt),
    ends: minute(one.expiresAt),
  }))
  return table(rows, [
    'id',
    'user',
    'note',
    'opens',
    {key: 'used', title: 'LAST USE'},
    {key: 'ends', title: 'ENDS (UTC)'},
  ])
}

/** The secret is shown this once. */
export function madeText({id, user, token, expiresAt}: MadeToken): string {
  return [
    `Token ${id} of ${user}, until ${minute(expiresAt)} UTC. It is shown this once:`,
    '',
    `  ${token}`,
    '',
    'flexrack login --token-stdin takes it; so does MLFLOW_TRACKING_TOKEN, with MLFLOW_WORKSPACE=PROJECT.',
  ].join('\n')
}

export function whoText({rack, user, admin, teams, projects, token, accounts}: ShownLogin): string {
  const who =
    user === null
      ? `Nobody has logged in to rack ${rack} from here: you are admin by the account on the head's node.`
      : `${user} at rack ${rack}${admin ? ', an admin' : ''}`
  const roles = Object.entries(projects).map(([project, role]) => `  ${project}: ${role}`)
  return [
    who,
    ...(teams.length > 0 ? [`teams: ${teams.join(', ')}`] : []),
    ...(roles.length > 0 && user !== null ? ['projects:', ...roles] : []),
    ...(token ? [`until ${minute(token.expiresAt)} UTC`] : []),
    accounts,
  ].join('\n')
}
