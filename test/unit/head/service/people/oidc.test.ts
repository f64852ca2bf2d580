import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK} from 'jose'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {DeviceFlows} from '../../../../../src/lib/head/service/people/oidc.ts'

/** A provider whose answers the test chooses: what a real one never says is what must not count. */
let server: Server
let issuer: string
let keys: {privateKey: CryptoKey; jwk: JWK}[]
let answers: (() => Promise<[status: number, body: object]>)[]
let polls: number[]
let flows: DeviceFlows

const settings = (): ConstructorParameters<typeof DeviceFlows>[0] => ({
  issuer,
  client_id: 'flexrack',
  name_claim: 'preferred_username',
  groups_claim: 'groups',
  scope: 'openid',
})

async function newKey(kid: string): Promise<(typeof keys)[number]> {
  const {privateKey, publicKey} = await generateKeyPair('RS256', {extractable: true})
  return {privateKey, jwk: {...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig'}}
}

beforeEach(async () => {
  keys = [await newKey('one')]
  answers = []
  polls = []
  server = createServer((request, response) => {
    const say = (status: number, body: object): void =>
      void response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(body))
    const path = request.url!
    if (path === '/.well-known/openid-configuration')
      return say(200, {
        issuer,
        token_endpoint: `${issuer}/token`,
        device_authorization_endpoint: `${issuer}/device`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
      })
    if (path === '/jwks') return say(200, {keys: keys.map(({jwk}) => jwk)})
    if (path === '/device')
      return say(200, {
        device_code: 'd',
        user_code: 'ABCD',
        verification_uri: `${issuer}/go`,
        expires_in: 60,
        interval: 1,
      })
    polls.push(Date.now())
    const next = answers.shift()
    if (!next) return say(400, {error: 'authorization_pending'})
    void next().then(([status, body]) => say(status, body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  flows = new DeviceFlows(settings())
})
afterEach(() => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))))

const claims = {preferred_username: 'Alice@lab', groups: ['ml', 7]}
const refuse = (error: string) => (): Promise<[number, object]> => Promise.resolve([400, {error}])
const grant =
  (
    change: {
      claims?: object
      issuer?: string
      audience?: string
      lifetime?: number
      key?: () => CryptoKey
      kid?: string
      none?: boolean
    } = {},
  ) =>
  async (): Promise<[number, object]> => {
    const now = Math.floor(Date.now() / 1000)
    const body = {
      ...claims,
      ...change.claims,
      iss: change.issuer ?? issuer,
      aud: change.audience ?? 'flexrack',
      sub: 'u1',
      iat: now - 700,
      exp: now + (change.lifetime ?? 60),
    }
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = change.none
      ? `${part({alg: 'none'})}.${part(body)}.`
      : await new SignJWT(body)
          .setProtectedHeader({alg: 'RS256', kid: change.kid ?? 'one'})
          .sign(change.key?.() ?? keys[0]!.privateKey)
    return [200, {access_token: 'a', token_type: 'bearer', id_token: signed}]
  }
const outcome = async (...said: typeof answers): Promise<unknown> => {
  answers = said
  return flows.outcome((await flows.begin('10.0.0.1')).id, 15_000)
}

test('a login waits while it is pending, slows down when it is told to, and knows who it was', async () => {
  const known = await outcome(refuse('authorization_pending'), refuse('slow_down'), grant())
  expect(known).toEqual({source: 'oidc', subject: `${issuer}|u1`, name: 'Alice@lab', groups: ['ml']})
  const [first, second, third] = polls as [number, number, number]
  expect(second - first).toBeGreaterThanOrEqual(990)
  expect(third - second).toBeGreaterThanOrEqual(5990)
}, 20_000)

test('what was asked once is over, and what is not decided yet is not waited for longer than was said', async () => {
  const {id, user_code: code} = await flows.begin('10.0.0.1')
  expect(code).toBe('ABCD')
  expect(await flows.outcome(id, 1)).toBeUndefined()
  flows.end(id)
  await expect(flows.outcome(id, 1)).rejects.toMatchObject({status: 401})
})

test.each([
  ['denied', /denied/, refuse('access_denied')],
  ['expired', /in time/, refuse('expired_token')],
  ['of another issuer', /does not count/, grant({issuer: 'https://evil.example'})],
  ['for another audience', /does not count/, grant({audience: 'other'})],
  ['over', /does not count/, grant({lifetime: -600})],
  ['not signed', /does not count/, grant({none: true})],
  ['with a nonce that nobody sent', /does not count/, grant({claims: {nonce: 'x'}})],
])(
  'a login that is %s counts as none',
  async (_what, message, answer) => {
    await expect(outcome(answer)).rejects.toMatchObject({status: 401, message: expect.stringMatching(message)})
  },
  20_000,
)

test("a key of somebody else's signs nothing, and a provider may change its keys", async () => {
  const foreign = await newKey('one')
  await expect(outcome(grant({key: () => foreign.privateKey}))).rejects.toMatchObject({status: 401})
  keys = [await newKey('two')]
  expect(await outcome(grant({kid: 'two'}))).toMatchObject({name: 'Alice@lab'})
}, 20_000)

test('of many logins that begin at once, the provider is asked for no more than are kept', async () => {
  const few = new DeviceFlows(settings(), 2)
  const begun = await Promise.allSettled([1, 2, 3, 4].map(() => few.begin('10.0.0.1')))
  const refused = begun.flatMap((one) => (one.status === 'rejected' ? [one.reason as {status: number}] : []))
  expect(refused.map((one) => one.status)).toEqual([429, 429])
  few.endAll()
})

test('who begins more at once than the provider is asked for leaves room for others', async () => {
  const statusOf = (begun: Promise<unknown>): Promise<number> =>
    begun.then(
      () => 200,
      (error: {status: number}) => error.status,
    )
  const many = Array.from({length: 30}, () => statusOf(flows.begin('10.0.0.1')))
  expect(await statusOf(flows.begin('10.0.0.2'))).toBe(200)
  expect((await Promise.all(many)).filter((one) => one === 200)).toHaveLength(10)
  flows.endAll()
})

test('who begins many logins and goes on with none keeps nobody else out, and loses their own oldest', async () => {
  const few = new DeviceFlows(settings(), 3)
  const other = await few.begin('10.0.0.2')
  const own: string[] = []
  for (let at = 0; at < 5; at++) own.push((await few.begin('10.0.0.1')).id)
  const late = await few.begin('10.0.0.3')
  const there = (id: string): Promise<unknown> => few.outcome(id, 1).catch((error: {status: number}) => error.status)
  expect(await Promise.all(own.map(there))).toEqual([401, 401, 401, 401, undefined])
  expect([await there(other.id), await there(late.id)]).toEqual([undefined, undefined])
  few.endAll()
})
