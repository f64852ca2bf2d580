import {readFile, rm} from 'node:fs/promises'
import {isAbsolute, join} from 'node:path'
import {isLoopbackUrl, textIfThere} from '../../../base/index.ts'
import {writeTextDurably} from '../files/durable.ts'

/** Who else knows users, and which of their groups are teams: `login.json` in the head's folder, set by `head identity` or by hand. */
export interface Providers {
  oidc?: OidcSettings
  ldap?: LdapSettings
  /** Team by group; other groups mean nothing here. */
  teams: Record<string, string>
}

export interface OidcSettings {
  issuer: string
  client_id: string
  client_secret?: string
  /** Certificates to trust there and no others: a file (PEM) on the head's node. Without it those that Node trusts. */
  ca?: string
  /** What the user is called here (default preferred_username), and where the groups are (default groups). */
  name_claim: string
  groups_claim: string
  scope: string
}

export interface LdapSettings {
  url: string
  starttls: boolean
  /** Where people are, and the attribute that is what somebody types as their name. */
  base: string
  attribute: string
  /** Who looks for people; without it nobody in particular. */
  bind_dn?: string
  bind_password?: string
  /** Where groups are, for directories whose people have no `memberOf`; as RFC 2307 and RFC 4519 name their members. */
  group_base?: string
  /** As that of oidc. */
  ca?: string
}

const PROVIDERS_FILE = 'login.json'

/** Throws where the file is there and is not as it must be: nobody is to log in by half of it. */
export async function readProviders(folder: string): Promise<Providers> {
  const file = join(folder, PROVIDERS_FILE)
  const text = await textIfThere(file)
  if (text === undefined) return {teams: {}}
  try {
    return providersOf(JSON.parse(text))
  } catch (error) {
    throw new Error(`${file} cannot be used: ${(error as Error).message}`, {cause: error})
  }
}

/** Throws where it is not as it must be. */
export function providersOf(given: unknown): Providers {
  const {oidc, ldap, teams, ...other} = record(given, 'the file')
  none(other, 'the file')
  return {
    ...(oidc !== undefined && {oidc: readOidc(record(oidc, 'oidc'))}),
    ...(ldap !== undefined && {ldap: readLdap(record(ldap, 'ldap'))}),
    teams: Object.fromEntries(
      Object.entries(record(teams ?? {}, 'teams')).map(([group, team]) => [group, word(team, `teams.${group}`)]),
    ),
  }
}

/** From the next login on; null: nobody else knows users any more. */
export async function keepProviders(folder: string, providers: Providers | null): Promise<void> {
  const file = join(folder, PROVIDERS_FILE)
  if (providers === null) await rm(file, {force: true})
  else await writeTextDurably(file, `${JSON.stringify(providers, undefined, 2)}\n`)
}

/** The certificates to trust. Errors: those of reading the file. */
export async function trustedBy({ca}: OidcSettings | LdapSettings): Promise<{ca?: string}> {
  return ca === undefined ? {} : {ca: await readFile(ca, 'utf8')}
}

function readOidc(given: Record<string, unknown>): OidcSettings {
  const {issuer, client_id, client_secret, ca, name_claim, groups_claim, scope, ...other} = given
  none(other, 'oidc')
  const url = word(issuer, 'oidc.issuer')
  requireSecure(url, 'oidc.issuer', 'https:')
  return {
    issuer: url,
    client_id: word(client_id, 'oidc.client_id'),
    ...(client_secret !== undefined && {client_secret: word(client_secret, 'oidc.client_secret')}),
    ...readCa(ca, 'oidc.ca'),
    name_claim: word(name_claim ?? 'preferred_username', 'oidc.name_claim'),
    groups_claim: word(groups_claim ?? 'groups', 'oidc.groups_claim'),
    scope: word(scope ?? 'openid profile email groups', 'oidc.scope'),
  }
}

function readLdap(given: Record<string, unknown>): LdapSettings {
  const {url, starttls = false, base, attribute, bind_dn, bind_password, group_base, ca, ...other} = given
  none(other, 'ldap')
  const where = word(url, 'ldap.url')
  if (starttls !== true) requireSecure(where, 'ldap.url', 'ldaps:')
  return {
    url: where,
    starttls: starttls === true,
    base: word(base, 'ldap.base'),
    attribute: word(attribute ?? 'uid', 'ldap.attribute'),
    ...(bind_dn !== undefined && {bind_dn: word(bind_dn, 'ldap.bind_dn')}),
    ...(bind_password !== undefined && {bind_password: word(bind_password, 'ldap.bind_password')}),
    ...(group_base !== undefined && {group_base: word(group_base, 'ldap.group_base')}),
    ...readCa(ca, 'ldap.ca'),
  }
}

function readCa(ca: unknown, what: string): {ca?: string} {
  if (ca === undefined) return {}
  const file = word(ca, what)
  if (!isAbsolute(file)) throw new Error(`${what} is a whole path on the head's node`)
  return {ca: file}
}

/** Passwords and tokens go over TLS, or stay on the machine. */
function requireSecure(url: string, what: string, protocol: string): void {
  if (!URL.canParse(url)) throw new Error(`${what} is no URL`)
  if (new URL(url).protocol !== protocol && !isLoopbackUrl(url))
    throw new Error(`${what} must begin with ${protocol}//, or be on this machine`)
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is no object`)
  return value as Record<string, unknown>
}

function word(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw new Error(`${what} is no text`)
  return value
}

function none(other: object, what: string): void {
  const [key] = Object.keys(other)
  if (key !== undefined) throw new Error(`${what} has nothing called ${key}`)
}
