import {isIP} from 'node:net'
import type {ConnectionOptions} from 'node:tls'
import type {Client} from 'ldapts'
import {Failure} from '../failure.ts'
import {trustedBy, type LdapSettings} from './providers.ts'
import type {Known} from './provided.ts'

const TIMEOUT_MS = 10_000
const LONGEST_PASSWORD = 1024

/**
 * Who it is by name and password, as the directory says: the entry of that name is looked for, and the password tried on
 * it. Errors: 401, whichever of the two is wrong; 502 where the directory does not answer.
 */
export async function knowByLdap(settings: LdapSettings, name: unknown, password: unknown): Promise<Known> {
  const refused = new Failure(401, 'REFUSED', 'the directory does not know this name with this password')
  // A bind without a password is an anonymous one (RFC 4513, 5.1.2), and succeeds for everybody.
  if (typeof name !== 'string' || name === '' || name.length > 256) throw refused
  if (typeof password !== 'string' || password === '' || password.length > LONGEST_PASSWORD) throw refused
  const {EqualityFilter, InvalidCredentialsError} = await import('ldapts')
  const {url, base, attribute} = settings
  const client = await clientFor(settings)
  try {
    await lookAround(client, settings)
    // The name is a value, never a part of a filter's text.
    const filter = new EqualityFilter({attribute, value: name})
    const {searchEntries} = await client.search(base, {
      scope: 'sub',
      filter,
      attributes: [attribute, 'memberOf'],
      sizeLimit: 2,
    })
    const [entry] = searchEntries
    if (!entry || searchEntries.length !== 1) throw refused
    const called = wordsOf(valueOf(entry, attribute))[0]
    if (called === undefined) throw refused
    // As who looks for people: they themselves may not see groups.
    const groups = [...wordsOf(valueOf(entry, 'memberOf')), ...(await groupsOf(client, settings, entry.dn, called))]
    await client.bind(entry.dn, password).catch((error: unknown) => {
      throw error instanceof InvalidCredentialsError ? refused : (error as Error)
    })
    return {source: 'ldap', subject: `${url}|${entry.dn.toLowerCase()}`, name: called, groups: [...new Set(groups)]}
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure(502, 'HEAD_FAILED', `the directory ${url} does not answer as it should: ${wordsFor(error)}`)
  } finally {
    await client.unbind().catch(() => {})
  }
}

/** Whether the directory can be asked as the settings say. Throws with why not. */
export async function tryDirectory(settings: LdapSettings): Promise<void> {
  const {base, group_base: groups} = settings
  const client = await clientFor(settings)
  try {
    await lookAround(client, settings)
    for (const place of groups === undefined ? [base] : [base, groups])
      await client
        .search(place, {scope: 'base', attributes: ['1.1']}) // no attributes (RFC 4511, 4.5.1.8)
        .catch((error: unknown) => Promise.reject(new Error(`${place}: ${wordsFor(error)}`, {cause: error})))
  } catch (error) {
    throw new Error(wordsFor(error), {cause: error})
  } finally {
    await client.unbind().catch(() => {})
  }
}

/** The certificate must be of the host that the URL names, over StartTLS as over TLS. */
async function clientFor(settings: LdapSettings): Promise<Client> {
  const {Client: Made} = await import('ldapts')
  const {url} = settings
  const tls = new URL(url).protocol === 'ldaps:' && {tlsOptions: await trustedAt(settings)}
  return new Made({url, timeout: TIMEOUT_MS, connectTimeout: TIMEOUT_MS, ...tls})
}

async function trustedAt(settings: LdapSettings): Promise<ConnectionOptions> {
  const host = new URL(settings.url).hostname.replace(/^\[(.*)\]$/, '$1')
  // Names of servers are no addresses (RFC 6066, 3).
  return {host, ...(isIP(host) === 0 && {servername: host}), ...(await trustedBy(settings))}
}

/** Becomes who looks for people. */
async function lookAround(client: Client, settings: LdapSettings): Promise<void> {
  const {starttls, bind_dn: dn, bind_password: secret} = settings
  if (starttls) await client.startTLS(await trustedAt(settings))
  if (dn !== undefined) await client.bind(dn, secret ?? '')
}

/** Groups by their members: groupOfNames and groupOfUniqueNames (RFC 4519, 3.5 and 3.6), posixGroup (RFC 2307). */
async function groupsOf(client: Client, {group_base: base}: LdapSettings, dn: string, name: string): Promise<string[]> {
  if (base === undefined) return []
  const {EqualityFilter, OrFilter} = await import('ldapts')
  const filters = [
    new EqualityFilter({attribute: 'member', value: dn}),
    new EqualityFilter({attribute: 'uniqueMember', value: dn}),
    new EqualityFilter({attribute: 'memberUid', value: name}),
  ]
  const found = await client.search(base, {scope: 'sub', filter: new OrFilter({filters}), attributes: ['1.1']})
  return found.searchEntries.map((one) => one.dn)
}

/** Some of its errors say no more than their name and number. */
function wordsFor(error: unknown): string {
  const {name, message} = error as Error
  return /^\s*(?:Code: 0x\w+\s*)?$/.test(message) ? name : message.replace(/\s*Code: 0x\w+\s*$/, '')
}

/** Names of attributes have no case (RFC 4512, 2.5), and servers write them as they like. */
function valueOf(entry: object, attribute: string): unknown {
  return Object.entries(entry).find(([name]) => name.toLowerCase() === attribute.toLowerCase())?.[1]
}

function wordsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string')
}
