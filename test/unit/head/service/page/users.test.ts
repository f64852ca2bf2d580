import {afterAll, beforeAll, expect, test} from 'vitest'
import type {MadeToken} from '../../../../../src/lib/head/types.ts'
import {pageUser} from '../../../../../src/lib/head/service/page/seen.ts'
import type {Caller} from '../../../../../src/lib/head/service/tokens/token-kinds.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'
import {rackOf, runsOf} from '../../../../support/page-facts.ts'
import {openHand, type Hand} from '../../../../support/ui-hand.ts'

// The page of somebody who is no admin: what nodes tell is asked of their own `head ui`, and what the head knows is what
// their roles show.

let server: TestServer
let admin: Hand
let alice: Hand
const tokens: Record<string, MadeToken> = {}
const as = (name: string) => (method: string, path: string, body?: unknown) =>
  server.call(method, path, {token: tokens[name]!.token, ...(body !== undefined && {body})})
const read = async (hand: Hand, path: string): Promise<{status: number; text: string}> => {
  const answer = await fetch(`${server.url}/flexrack/ui/${path}`, {headers: await headersOf(hand), redirect: 'manual'})
  return {status: answer.status, text: await answer.text()}
}
const entered = new Map<Hand, Record<string, string>>()
const headersOf = async (hand: Hand): Promise<Record<string, string>> => {
  const known = entered.get(hand) ?? (await hand.enter())
  entered.set(hand, known)
  return known
}

/** All that a stream gives until it ends, however that is. */
async function readAll({body}: Response): Promise<string> {
  let text = ''
  try {
    for await (const chunk of body!) text += Buffer.from(chunk as Uint8Array).toString()
  } catch {
    // broken off
  }
  return text
}

beforeAll(async () => {
  server = await openTestServer()
  const {people} = server.parts
  for (const name of ['alice', 'bob']) {
    await people.addUser(name, {admin: false, keys: [], source: 'admin'})
    const made = await server.call('POST', '/flexrack/v1/people/tokens', {body: {user: name}})
    tokens[name] = (await made.json()) as MadeToken
  }
  await people.setTeam('seers', ['alice'])
  await people.setTeam('others', ['bob'])
  await server.activate('digits', ['http://127.0.0.1:9'])
  const head = {
    url: server.url,
    call: (method: string, path: string, body?: unknown) => server.call(method, path, {body}),
  }
  const answers = {rack: () => rackOf(2)}
  admin = await openHand(head, {...answers, runs: () => ({runs: runsOf(), away: null, unasked: []})})
  alice = await openHand(
    {url: server.url, call: as('alice')},
    {...answers, runs: () => ({runs: runsOf().slice(0, 1), away: null, unasked: []})},
  )
})
afterAll(async () => {
  await alice?.close()
  await admin?.close()
  await server?.close()
})

test('shows the rack and the endpoints, without what takes an admin', async () => {
  expect(await read(alice, '')).toMatchObject({status: 200, text: expect.stringContaining('id="node-gpu01"')})
  const list = await read(alice, 'endpoints')
  expect(list.text).toContain('href="/flexrack/ui/endpoints/digits"')
  expect(list.text).toContain('<span class="tag">alice</span>')
  for (const gone of ['>Audit</a', 'MLflow ↗']) {
    expect(list.text).not.toContain(gone)
    expect((await read(admin, 'endpoints')).text).toContain(gone)
  }
  expect((await read(alice, 'endpoints/digits')).text).not.toContain('name="data"')
  expect((await read(admin, 'endpoints/digits')).text).toContain('name="data"')
  for (const path of ['audit', 'mlflow']) expect([path, (await read(alice, path)).status]).toEqual([path, 403])
  const tried = await fetch(`${server.url}/flexrack/ui/endpoints/digits/try`, {
    method: 'POST',
    headers: {...(await headersOf(alice)), 'content-type': 'application/x-www-form-urlencoded'},
    body: 'data=[1]',
  })
  expect(tried.status).toBe(403)
  expect((await as('alice')('POST', '/flexrack/v1/login-codes', {})).status, "MLflow's pages").toBe(403)
})

test('shows of people what concerns them', async () => {
  const own = (await read(alice, 'people')).text
  expect(own).toContain('seers')
  expect(own).not.toContain('others')
  expect(own).not.toContain(tokens.bob!.id)
  expect((await read(admin, 'people')).text).toContain('others')
})

test('what is asked of nodes is asked of their own, also where an admin sees the same nodes', async () => {
  expect((await read(admin, 'runs')).text).toContain('digits-9dkw2')
  const own = await read(alice, 'runs')
  expect(own.text).toContain('digits-ab12c')
  expect(own.text).not.toContain('digits-9dkw2')
  expect(alice.asked.some((one) => one.ask === 'runs')).toBe(true)
})

test("nobody gets at somebody else's page by its login", async () => {
  const who = {rack: 'lab', view: 'view', owner: 'bob@lab2', mlflow: 'http://127.0.0.1:9', wait: 0}
  for (const {login} of [alice, admin]) {
    const path = `/flexrack/v1/logins/${login}`
    for (const [method, at, body] of [
      ['POST', `${path}/questions`, who],
      ['POST', `${path}/answers`, {id: 'x', value: 1}],
      ['PUT', path, {}],
      ['DELETE', path, undefined],
      ['POST', '/flexrack/v1/login-codes', {opens: 'page', login}],
    ] as const)
      expect([at, (await as('bob')(method, at, body)).status]).toEqual([at, 403])
  }
  expect((await read(alice, '')).status).toBe(200)
})

test('a token for one project shows no other token of its user', async () => {
  await server.parts.people.addProject('digits')
  await server.call('PUT', '/flexrack/v1/people/projects/digits/roles', {body: {to: 'user:bob', role: 'viewer'}})
  const made = await server.call('POST', '/flexrack/v1/people/tokens', {body: {user: 'bob', project: 'digits'}})
  const {id, token} = (await made.json()) as MadeToken
  const call = (method: string, path: string, body?: unknown) => server.call(method, path, {token, body})
  const narrow = await openHand({url: server.url, call}, {})
  try {
    const seen = (await read(narrow, 'people')).text
    expect(seen).toContain(id)
    expect(seen).not.toContain(tokens.bob!.id)
  } finally {
    await narrow.close()
  }
})

test("MLflow's pages, where all projects are open, are no more a user's who is an admin no more", async () => {
  const {people} = server.parts
  await people.addUser('carol', {admin: true, keys: [], source: 'admin'})
  const made = await server.call('POST', '/flexrack/v1/people/tokens', {body: {user: 'carol'}})
  const {token} = (await made.json()) as MadeToken
  const begun = await server.call('POST', '/flexrack/v1/login-codes', {token, body: {}})
  const entered = await fetch(`${server.url}${((await begun.json()) as {path: string}).path}`, {redirect: 'manual'})
  const cookie = entered.headers.getSetCookie()[0]!.split(';', 1)[0]!
  const look = async (): Promise<number> =>
    (await fetch(`${server.url}/ajax-api/2.0/mlflow/experiments/search`, {headers: {cookie}})).status
  expect(await look()).not.toBe(403)
  await people.changeUser('carol', {admin: false})
  expect(await look()).toBe(403)
})

test('an open page shows what its user may see now, and ends where an admin is one no more', async () => {
  const {people, tokens: kept} = server.parts
  await people.addUser('dora', {admin: true, keys: [], source: 'admin'})
  const {token} = (await (
    await server.call('POST', '/flexrack/v1/people/tokens', {body: {user: 'dora'}})
  ).json()) as MadeToken
  const owner = kept.check(token) as Extract<Caller, {kind: 'user'}>
  const call = (method: string, path: string, body?: unknown) => server.call(method, path, {token, body})
  const hand = await openHand({url: server.url, call}, {})
  try {
    const events = await fetch(`${server.url}/flexrack/ui/events?page=/flexrack/ui/endpoints`, {
      headers: await headersOf(hand),
    })
    expect(pageUser(owner, server.parts)).toBeUndefined()
    await people.changeUser('dora', {admin: false})
    const user = pageUser(owner, server.parts)!
    expect([...user.roles]).toEqual([])
    await people.addProject('later')
    await people.grant('later', 'user:dora', 'viewer')
    expect([...user.roles]).toEqual([['later', 'viewer']])
    await server.activate('unseen', ['http://127.0.0.1:9'])
    // what was sent before is there; the connection ends with what comes next
    const text = await readAll(events)
    expect(text).not.toContain('unseen')
  } finally {
    await hand.close()
  }
}, 30_000)

test('who begins pages without end is told to end some, and others are not', async () => {
  const begin = async (name: string, at: number): Promise<number> =>
    (await as(name)('PUT', `/flexrack/v1/logins/${name}-login-${at}`, {})).status
  const all: number[] = []
  for (let at = 0; at < 52; at++) all.push(await begin('bob', at))
  expect(all.filter((one) => one === 429).length).toBeGreaterThan(0)
  expect([await begin('bob', 0), await begin('alice', 0)]).toEqual([200, 200])
})

test('ends with the token that it was opened with', async () => {
  await headersOf(alice)
  await server.call('DELETE', `/flexrack/v1/people/tokens/${tokens.alice!.id}`)
  expect((await read(alice, 'endpoints')).status).toBe(401)
})
