import type {FastifyInstance} from 'fastify'
import type {HeadIdentity} from '../../types.ts'
import type {BodyOf} from '../limits/body.ts'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'
import {tryDirectory} from './ldap.ts'
import {deviceCodeOf, discover, reasonOf} from './oidc-client.ts'
import {personOf, requireMay} from './person.ts'
import {keepProviders, providersOf, readProviders, type OidcSettings, type Providers} from './providers.ts'

const PATH = '/flexrack/v1/people/providers'

/** Who else knows users: told without secrets, and changed, by admins. What does not answer is not taken. */
export function addProviders(app: FastifyInstance, {people, config: {folder}}: Parts, bodyOf: BodyOf): void {
  app.get(PATH, async (request): Promise<HeadIdentity> => {
    requireMay(personOf(request.caller, people), 'people.change', 'others')
    return identityOf(await readProviders(folder))
  })
  app.put(PATH, async (request): Promise<HeadIdentity> => {
    requireMay(personOf(request.caller, people), 'people.change', 'others')
    const providers = readGiven(await bodyOf(request))
    request.about = [providers.oidc?.issuer, providers.ldap?.url].filter((one) => one !== undefined).join(' ')
    const identity = await identityOf(providers)
    const {oidc, ldap} = identity.problems
    const problem = oidc ?? ldap
    if (problem !== null) throw new Failure(409, 'CONFLICT', `nothing was changed: ${problem}`)
    await keepProviders(folder, providers)
    return identity
  })
  app.delete(PATH, async (request): Promise<HeadIdentity> => {
    requireMay(personOf(request.caller, people), 'people.change', 'others')
    await keepProviders(folder, null)
    return identityOf({teams: {}})
  })
}

function readGiven(given: Record<string, unknown>): Providers {
  try {
    return providersOf(given)
  } catch (error) {
    throw new Failure(400, 'USAGE', (error as Error).message)
  }
}

/** Asks both. */
async function identityOf({oidc, ldap, teams}: Providers): Promise<HeadIdentity> {
  const problemOf = async (where: string, attempt: Promise<void> | undefined): Promise<string | null> => {
    try {
      await attempt
      return null
    } catch (error) {
      return `${where}: ${reasonOf(error)}`
    }
  }
  const [oidcProblem, ldapProblem] = await Promise.all([
    problemOf(oidc?.issuer ?? '', oidc && tryProvider(oidc)),
    problemOf(ldap?.url ?? '', ldap && tryDirectory(ldap)),
  ])
  const {client_secret: _secret, ...shownOidc} = oidc ?? {}
  const {bind_password: _password, ...shownLdap} = ldap ?? {}
  return {
    oidc: oidc ? (shownOidc as HeadIdentity['oidc']) : null,
    ldap: ldap ? (shownLdap as HeadIdentity['ldap']) : null,
    teams,
    problems: {oidc: oidcProblem, ldap: ldapProblem},
  }
}

/** Whether a login could begin: a code is asked for that nobody enters. */
async function tryProvider(settings: OidcSettings): Promise<void> {
  await deviceCodeOf(await discover(settings), settings)
}
