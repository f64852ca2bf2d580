import {readFile} from 'node:fs/promises'
import {CliError} from '../../lib/base/index.ts'
import type {HeadConnection, HeadIdentity} from '../../lib/head/index.ts'
import {oneLine} from '../terminal/printable.ts'
import {readStdin} from './stdin.ts'

const PATH = '/flexrack/v1/people/providers'
const LONGEST = 65_536

/** Asks the head, after the change that is wanted. Errors: USAGE, NOT_FOUND, CONFLICT where a provider cannot be used. */
export async function identityAt(
  head: HeadConnection,
  file: string | undefined,
  remove: boolean,
): Promise<HeadIdentity> {
  if (remove && file !== undefined) throw new CliError('USAGE', 'give a file or --remove, not both')
  if (remove) return head.request('DELETE', PATH)
  return file === undefined ? head.request('GET', PATH) : head.request('PUT', PATH, await readIdentity(file))
}

async function readIdentity(file: string): Promise<object> {
  const text = file === '-' ? await readStdin(LONGEST) : await readFile(file, 'utf8').catch(notThere)
  try {
    const given: unknown = JSON.parse(text)
    if (typeof given === 'object' && given !== null) return given
  } catch {
    // Told below: the parser's words would show a part of what may be a secret.
  }
  throw new CliError('USAGE', `${file === '-' ? 'stdin' : file} holds no JSON object`, {hint: 'docs/people.md'})

  function notThere(error: Error): never {
    throw new CliError('NOT_FOUND', `${file} cannot be read: ${error.message}`, {cause: error})
  }
}

export function identityText({oidc, ldap, teams, problems}: HeadIdentity): string {
  if (!oidc && !ldap) return 'No identity provider: people log in with SSH keys and tokens. flexrack head identity FILE'
  const state = (problem: string | null): string => (problem === null ? 'answers' : `cannot be used: ${problem}`)
  const lines: string[] = []
  if (oidc) lines.push(`OpenID Connect at ${oidc.issuer} as ${oidc.client_id}: ${state(problems.oidc)}`)
  if (ldap)
    lines.push(`LDAP at ${ldap.url}${ldap.starttls ? ' (StartTLS)' : ''}, below ${ldap.base}: ${state(problems.ldap)}`)
  const groups = Object.entries(teams).map(([group, team]) => `  ${group} is team ${team}`)
  return [...lines, ...(groups.length > 0 ? ['Groups:', ...groups] : ['No group means a team.'])]
    .map(oneLine)
    .join('\n')
}
