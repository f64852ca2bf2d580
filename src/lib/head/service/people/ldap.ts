import {Failure} from '../failure.ts'
import type {LdapSettings} from './providers.ts'
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
  const {Client, EqualityFilter, InvalidCredentialsError} = await import('ldapts')
  const {url, starttls, base, attribute, bind_dn: dn, bind_password: secret} = settings
  const client = new Client({url, timeout: TIMEOUT_MS, connectTimeout: TIMEOUT_MS})
  try {
    if (starttls) await client.startTLS({})
    if (dn !== undefined) await client.bind(dn, secret ?? '')
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
    await client.bind(entry.dn, password).catch((error: unknown) => {
      throw error instanceof InvalidCredentialsError ? refused : (error as Error)
    })
    const called = wordsOf(valueOf(entry, attribute))[0]
    if (called === undefined) throw refused
    return {
      source: 'ldap',
      subject: `${url}|${entry.dn.toLowerCase()}`,
      name: called,
      groups: wordsOf(valueOf(entry, 'memberOf')),
    }
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure(
      502,
      'HEAD_FAILED',
      `the directory ${url} does not answer as it should: ${(error as Error).message}`,
    )
  } finally {
    await client.unbind().catch(() => {})
  }
}

/** Names of attributes have no case (RFC 4512, 2.5), and servers write them as they like. */
function valueOf(entry: object, attribute: string): unknown {
  return Object.entries(entry).find(([name]) => name.toLowerCase() === attribute.toLowerCase())?.[1]
}

function wordsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string')
}
