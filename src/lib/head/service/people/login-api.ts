import type {FastifyInstance, FastifyRequest} from 'fastify'
import type {LoginWays, MadeToken} from '../../types.ts'
import {Failure} from '../failure.ts'
import type {Parts} from '../parts.ts'
import {Challenges} from './challenges.ts'
import {noteChange} from './changes.ts'
import {makeToken} from './token-api.ts'

/** What is open to who has no token yet. */
export const LOGIN_PATHS: readonly string[] = [
  '/flexrack/v1/people/login/ways',
  '/flexrack/v1/people/login/challenge',
  '/flexrack/v1/people/login/ssh',
]
const [WAYS, CHALLENGE, SSH] = LOGIN_PATHS as [string, string, string]

type BodyOf = (request: FastifyRequest) => Promise<Record<string, unknown>>

/** Ways to a token for who has none. */
export function addLogins(app: FastifyInstance, parts: Parts, bodyOf: BodyOf): void {
  const challenges = new Challenges()
  app.get(WAYS, (): LoginWays => ({ssh: true, oidc: null, ldap: null}))
  app.post(CHALLENGE, async (request) => challenges.issue((await bodyOf(request)).user))
  app.post(SSH, async (request): Promise<MadeToken> => {
    const body = await bodyOf(request)
    const user = await challenges.check(body, parts.authority.trusted, parts.people)
    return logIn(parts, request, user, body)
  })
}

/** The token of somebody who has proved who they are. */
export function logIn(
  parts: Parts,
  request: FastifyRequest,
  user: string,
  {note, ttl_seconds: ttl}: Record<string, unknown>,
): Promise<MadeToken> {
  if (!parts.people.user(user)) throw new Failure(401, 'REFUSED', 'this user is not there any more')
  return noteChange(parts, request, 'login', user, () => makeToken(parts, user, {note, ttl_seconds: ttl}))
}
