import {execFileSync} from 'node:child_process'
import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {ChangePace} from '../../../../../src/lib/head/service/audit/pace.ts'
import {Failure} from '../../../../../src/lib/head/service/failure.ts'
import {headFingerprint, LOGIN_NAMESPACE, loginText, signWith} from '../../../../../src/lib/base/index.ts'
import type {MadeToken, WhoAmI} from '../../../../../src/lib/head/types.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'

let folder: string
let head: TestServer
const PEOPLE = '/flexrack/v1/people'
const token: Record<string, string> = {}

const key = (name: string): string => join(folder, name)
const publicKey = (name: string): Promise<string> => readFile(`${key(name)}.pub`, 'utf8')
const status = async (method: string, path: string, who: string, body?: unknown): Promise<number> =>
  (await head.call(method, path, {token: token[who]!, body})).status
const json = async <T>(method: string, path: string, who: string, body?: unknown): Promise<T> =>
  (await (await head.call(method, path, {token: token[who]!, body})).json()) as T

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-people-api-'))
  for (const name of ['alice', 'other'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'x namespaces="y"', '-f', key(name)])
  head = await openTestServer()
  token.admin = head.admin
  const users: [string, object][] = [
    ['alice', {keys: [await publicKey('alice')]}],
    ['bob', {}],
    ['mia', {}],
    ['root', {admin: true}],
  ]
  for (const [name, body] of users) expect(await status('PUT', `${PEOPLE}/users/${name}`, 'admin', body)).toBe(200)
  for (const name of ['digits', 'secret'])
    expect(await status('PUT', `${PEOPLE}/projects/${name}`, 'admin', {})).toBe(200)
  for (const [name, role] of [
    ['alice', 'member'],
    ['bob', 'viewer'],
    ['mia', 'maintainer'],
  ])
    expect(await status('PUT', `${PEOPLE}/projects/digits/roles`, 'admin', {to: `user:${name}`, role})).toBe(200)
  for (const user of ['alice', 'bob', 'mia', 'root'])
    token[user] = (await json<MadeToken>('POST', `${PEOPLE}/tokens`, 'admin', {user})).token
})
afterAll(async () => {
  await head?.close()
  await rm(folder, {recursive: true, force: true})
})

async function proof(
  user: string,
  name: string,
  change: Partial<Parameters<typeof loginText>[0]> = {},
): Promise<Response> {
  const call = (path: string, body: object): Promise<Response> =>
    fetch(`${head.url}${PEOPLE}/login/${path}`, {method: 'POST', body: JSON.stringify(body)})
  const {nonce} = (await (await call('challenge', {user})).json()) as {nonce: string}
  const text = loginText({user, nonce, head: headFingerprint(head.parts.authority.trusted), ...change})
  const signature = (await signWith(key(name), Buffer.from(text), LOGIN_NAMESPACE)).toString('base64')
  const answer = await call('ssh', {nonce, signature, note: 'laptop'})
  // A challenge is answered once.
  expect((await call('ssh', {nonce, signature})).status).toBe(401)
  return answer
}

test('who signs with a key of theirs gets a token; another key, user, head or namespace gets none', async () => {
  const answer = await proof('alice', 'alice')
  const made = (await answer.json()) as MadeToken
  expect([answer.status, made.user]).toEqual([200, 'alice'])
  const me = (await (await head.call('GET', '/flexrack/v1/whoami', {token: made.token})).json()) as WhoAmI
  expect(me).toMatchObject({user: 'alice', admin: false, projects: {digits: 'member'}, token: {note: 'laptop'}})
  expect((await proof('alice', 'other')).status).toBe(401)
  expect((await proof('bob', 'alice')).status).toBe(401)
  expect((await proof('nobody', 'alice')).status).toBe(401)
  expect((await proof('alice', 'alice', {user: 'root'})).status).toBe(401)
  expect((await proof('alice', 'alice', {head: 'another'})).status).toBe(401)
})

/** What each may over HTTP, in a project where alice is member, bob viewer, mia maintainer, and in one where none of them has a role. */
const MATRIX: [what: string, method: string, path: string, body: unknown, statuses: Record<string, number>][] = [
  ['reads the status', 'GET', '/flexrack/v1/status', undefined, {bob: 200, alice: 200, mia: 200, root: 200}],
  ['adds a user', 'PUT', `${PEOPLE}/users/new`, {}, {bob: 403, alice: 403, mia: 403, root: 200}],
  ['removes a user', 'DELETE', `${PEOPLE}/users/new`, undefined, {bob: 403, alice: 403, mia: 403, root: 200}],
  ['makes a team', 'PUT', `${PEOPLE}/teams/t`, {members: ['bob']}, {bob: 403, alice: 403, mia: 403, root: 200}],
  ['removes a team', 'DELETE', `${PEOPLE}/teams/t`, undefined, {bob: 403, alice: 403, mia: 403, root: 200}],
  ['makes a project', 'PUT', `${PEOPLE}/projects/new`, {}, {bob: 403, alice: 403, mia: 403, root: 200}],
  ['removes a project', 'DELETE', `${PEOPLE}/projects/new`, undefined, {bob: 403, alice: 403, mia: 403, root: 200}],
  [
    'grants',
    'PUT',
    `${PEOPLE}/projects/digits/roles`,
    {to: 'everyone', role: null},
    {bob: 403, alice: 403, mia: 200, root: 200},
  ],
  [
    'grants elsewhere',
    'PUT',
    `${PEOPLE}/projects/secret/roles`,
    {to: 'everyone', role: null},
    {bob: 403, alice: 403, mia: 403, root: 200},
  ],
  ["makes another's token", 'POST', `${PEOPLE}/tokens`, {user: 'alice'}, {bob: 403, mia: 403, root: 200}],
  [
    'changes endpoints',
    'PUT',
    '/flexrack/v1/endpoints/e',
    {revision: 0, document: {}},
    {bob: 403, alice: 403, mia: 403},
  ],
  ['has a node certified', 'POST', '/flexrack/v1/certificates', {}, {bob: 403, alice: 403, mia: 403, root: 400}],
  ['lets a browser in', 'POST', '/flexrack/v1/login-codes', {}, {bob: 403, alice: 403, mia: 403, root: 200}],
  [
    'gets a standby',
    'POST',
    '/flexrack/v1/tokens',
    {kind: 'standby', node: 'a', names: ['a']},
    {bob: 403, alice: 403, mia: 403},
  ],
]

test.each(MATRIX)('who %s', async (_what, method, path, body, statuses) => {
  for (const [who, expected] of Object.entries(statuses))
    expect(await status(method, path, who, body), who).toBe(expected)
})

test("what a project's own server has in its environment is shown to admins alone", async () => {
  const server = {command: ['serve'], env: {API_KEY: 'hush', MODE: 'x'}, places: {}}
  const document = {active: null, releases: [{release: '1', state: 'active', replicas: [], server}]}
  expect(await status('PUT', '/flexrack/v1/endpoints/own', 'root', {revision: 0, document})).toBe(200)
  for (const path of ['endpoints/own', 'endpoints']) {
    const [seen, all] = [
      await json<object>('GET', `/flexrack/v1/${path}`, 'bob'),
      await json<object>('GET', `/flexrack/v1/${path}`, 'root'),
    ]
    expect(JSON.stringify(seen)).toContain('"env":{"API_KEY":"***","MODE":"***"}')
    expect(JSON.stringify(seen)).toContain('"command":["serve"]')
    expect(JSON.stringify(all)).toContain('hush')
  }
  expect(await status('DELETE', '/flexrack/v1/endpoints/own', 'root')).toBe(200)
})

test('a token has an end and a scope, is listed with its last use and without its secret, and is over at once', async () => {
  const make = (who: string, body: object): Promise<Response> =>
    head.call('POST', `${PEOPLE}/tokens`, {token: token[who]!, body})
  const made = (await (
    await make('mia', {note: 'ci', project: 'digits', role: 'viewer', ttl_seconds: 60})
  ).json()) as MadeToken
  token.ci = made.token
  expect(await json('GET', '/flexrack/v1/whoami', 'ci')).toMatchObject({
    user: 'mia',
    admin: false,
    projects: {digits: 'viewer'},
  })
  expect(await status('PUT', `${PEOPLE}/projects/digits/roles`, 'ci', {to: 'everyone', role: 'viewer'})).toBe(403)
  expect((await make('ci', {})).status).toBe(403)
  const others = await json<{tokens: {id: string}[]}>('GET', `${PEOPLE}/tokens`, 'mia')
  const other = others.tokens.find(({id}) => id !== made.id)!
  expect(await status('DELETE', `${PEOPLE}/tokens/${other.id}`, 'ci'), 'it ends no other one').toBe(404)
  expect(await json('GET', `${PEOPLE}/tokens`, 'ci')).toMatchObject({tokens: [{id: made.id}]})
  const refused: [object, number][] = [
    [{ttl_seconds: 91 * 86_400}, 400],
    [{ttl_seconds: 0}, 400],
    [{role: 'king'}, 400],
    [{project: 'nowhere'}, 404],
    [{note: 'x'.repeat(201)}, 400],
  ]
  for (const [body, expected] of refused) expect((await make('mia', body)).status, JSON.stringify(body)).toBe(expected)
  const listed = await (await head.call('GET', `${PEOPLE}/tokens`, {token: token.mia!})).text()
  expect(listed).not.toContain(made.token.split('.')[2])
  const {tokens} = JSON.parse(listed) as {tokens: {id: string; user: string; lastUsedAt: number}[]}
  expect(tokens.find(({id}) => id === made.id)).toMatchObject({user: 'mia', note: 'ci', lastUsedAt: expect.any(Number)})
  expect(tokens.every(({user}) => user === 'mia')).toBe(true)
  expect(await status('DELETE', `${PEOPLE}/tokens/${made.id}`, 'bob')).toBe(404)
  expect(await status('DELETE', `${PEOPLE}/tokens/${made.id}`, 'mia')).toBe(200)
  expect(await status('GET', '/flexrack/v1/whoami', 'ci')).toBe(401)
})

test('who is removed is out at once, and what was changed is written down without a secret', async () => {
  expect(await status('PUT', `${PEOPLE}/users/eve`, 'root', {})).toBe(200)
  token.eve = (await json<MadeToken>('POST', `${PEOPLE}/tokens`, 'root', {user: 'eve'})).token
  expect(await status('GET', '/flexrack/v1/whoami', 'eve')).toBe(200)
  expect(await status('DELETE', `${PEOPLE}/users/eve`, 'root')).toBe(200)
  expect(await status('GET', '/flexrack/v1/whoami', 'eve')).toBe(401)
  const written = await readFile(
    join(head.folder, 'audit', (await readdir(join(head.folder, 'audit'))).toSorted().at(-1)!),
    'utf8',
  )
  expect(written).toMatch(
    /"who":"user root"[^\n]*"action":"user.remove"[^\n]*"target":"eve"|"user.remove"[^\n]*"user root"/,
  )
  for (const secret of Object.values(token)) expect(written).not.toContain(secret.split('.').at(-1))
})

test('who spends all that a user may change does not keep them from ending the token that it is done with', async () => {
  expect(await status('PUT', `${PEOPLE}/users/dan`, 'root', {})).toBe(200)
  const made: MadeToken[] = []
  for (const _ of 'ab') made.push(await json<MadeToken>('POST', `${PEOPLE}/tokens`, 'root', {user: 'dan'}))
  const [mine, stolen] = made as [MadeToken, MadeToken]
  token.dan = mine.token
  vi.spyOn(ChangePace.prototype, 'take').mockImplementation((user) => {
    if (user === 'dan') throw new Failure(429, 'REFUSED', 'too many')
  })
  try {
    expect(await status('POST', `${PEOPLE}/tokens`, 'dan', {})).toBe(429)
    expect(await status('DELETE', `${PEOPLE}/tokens/${stolen.id}`, 'dan')).toBe(200)
    expect(await status('DELETE', '/flexrack/v1/tokens/self', 'dan')).toBe(200)
  } finally {
    vi.restoreAllMocks()
  }
})

test('what is no key of SSH gets into no file of signers', async () => {
  const good = (await publicKey('alice')).split(' ').slice(0, 2).join(' ')
  for (const bad of [
    '',
    'x',
    `cert-authority ${good}`,
    `${good}\nroot ${good}`,
    good.replace('ssh-ed25519', 'ssh-rsa'),
    7,
  ])
    expect(await status('PUT', `${PEOPLE}/users/zoe`, 'admin', {keys: [bad]}), String(bad)).toBe(400)
})

test("a user claims for runs of their own, as their role allows, and ends nobody else's claim", async () => {
  const claim = (run: string, more: object = {}): object => ({run, project: 'digits', parts: [], gpus: 1, ...more})
  const claims = '/flexrack/v1/claims'
  expect(await status('POST', claims, 'alice', claim('run-a'))).toBe(200)
  expect(await status('POST', claims, 'alice', claim('run-b', {priority: 5}))).toBe(403)
  expect(await status('POST', claims, 'mia', claim('run-c', {priority: 5}))).toBe(200)
  expect(await status('POST', claims, 'bob', claim('run-d'))).toBe(403)
  expect(await status('POST', claims, 'alice', claim('run-e', {project: 'secret'}))).toBe(403)
  const headers = {'x-mlflow-workspace': 'digits'}
  const elsewhere = {token: token.alice!, headers, body: claim('run-f', {project: 'uncounted'})}
  expect((await head.call('POST', claims, elsewhere)).status, 'a role of one project is none in another').toBe(403)
  expect(await status('POST', claims, 'mia', claim('run-a'))).toBe(409)
  expect(await status('DELETE', `${claims}/run-a`, 'mia')).toBe(200)
  expect(await status('POST', claims, 'mia', claim('run-a')), 'it is still there').toBe(409)
  expect(await status('PUT', '/flexrack/v1/quotas/user:bob', 'mia', {runs: {most: 1}})).toBe(403)
  expect(await status('DELETE', `${claims}/run-a`, 'alice')).toBe(200)
  expect(await status('POST', claims, 'mia', claim('run-a'))).toBe(200)
})

test("a token for one project gets none for another, nor one that lives longer, by way of a run's records", async () => {
  const made = await json<MadeToken>('POST', `${PEOPLE}/tokens`, 'root', {project: 'digits', ttl_seconds: 60})
  token.bound = made.token
  expect(await status('POST', `${PEOPLE}/record-token`, 'bound', {project: 'secret'})).toBe(403)
  const record = await json<MadeToken>('POST', `${PEOPLE}/record-token`, 'bound', {project: 'digits'})
  expect(record.expiresAt).toBeLessThanOrEqual(made.expiresAt)
  token.record = record.token
  expect(await json('GET', '/flexrack/v1/whoami', 'record')).toMatchObject({projects: {digits: 'maintainer'}})
  token.second = (await json<MadeToken>('POST', `${PEOPLE}/record-token`, 'record', {project: 'digits'})).token
  expect(await status('GET', '/flexrack/v1/whoami', 'second')).toBe(200)
  expect(await status('DELETE', `${PEOPLE}/tokens/${made.id}`, 'root')).toBe(200)
  for (const who of ['record', 'second']) expect(await status('GET', '/flexrack/v1/whoami', who), who).toBe(401)
})

test('a role is for exactly one user or team', async () => {
  for (const to of ['user:bob:x', 'team:', 'bob', 'everyone:x'])
    expect(await status('PUT', `${PEOPLE}/projects/digits/roles`, 'mia', {to, role: 'viewer'}), to).toBe(400)
})

test('a user has a hundred tokens at most; who logs in beyond that loses the one that was not used for the longest time', async () => {
  await status('PUT', `${PEOPLE}/users/many`, 'admin', {keys: [await publicKey('other')]})
  const first = await json<MadeToken>('POST', `${PEOPLE}/tokens`, 'admin', {user: 'many'})
  for (let at = 1; at < 100; at++) await head.parts.tokens.issueUser({user: 'many', expiresAt: Date.now() + 60_000})
  const refused = await json<{error: {code: string; message: string}}>('POST', `${PEOPLE}/tokens`, 'admin', {
    user: 'many',
  })
  expect(refused.error).toMatchObject({code: 'CONFLICT', message: expect.stringContaining('flexrack token revoke ID')})
  expect((await proof('many', 'other')).status).toBe(200)
  const left = head.parts.tokens.ofUsers('many').map(([id]) => id)
  expect([left.length, left.includes(first.id)]).toEqual([100, false])
})

test('what runs keep is said by members of the project alone, and counts for themselves', async () => {
  const said = {node: 'n1', owner: 'alice@desk', project: 'digits', bytes: 2 ** 30}
  expect(await status('PUT', '/flexrack/v1/quotas/project:digits', 'admin', {disk: {most: 2 ** 40}})).toBe(200)
  const say = (who: string, project: string): Promise<number> =>
    status('POST', '/flexrack/v1/holdings/kept', who, {...said, project})
  expect([await say('bob', 'digits'), await say('alice', 'secret'), await say('alice', 'digits')]).toEqual([
    403, 403, 200,
  ])
  expect(await status('POST', '/flexrack/v1/holdings/self', 'alice', said), "a run's own").toBe(403)
  const used = await json<{quotas: unknown[]}>('GET', '/flexrack/v1/quotas', 'alice')
  expect(used.quotas).toMatchObject([{limits: [{have: 2 ** 30, by: {alice: 2 ** 30}}]}])
  await status('DELETE', '/flexrack/v1/quotas/project:digits', 'admin')
})
