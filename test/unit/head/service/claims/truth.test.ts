import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import type {ClaimAnswer, ClaimWish} from '../../../../../src/lib/head/types.ts'
import type {HeadClaims} from '../../../../../src/lib/protocol/index.ts'
import {as, wish} from '../../../../support/claim-wishes.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'

let folder: string
let server: TestServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-truth-'))
  server = await openTestServer(undefined, {folder})
})
afterEach(async () => {
  vi.restoreAllMocks()
  await server?.close()
  await rm(folder, {recursive: true, force: true})
})

type Answer = Partial<ClaimAnswer> & {token?: string; status: number; error?: {code: string; message: string}}
async function call(
  method: string,
  path: string,
  how: {token?: string; user?: string; body?: unknown},
): Promise<Answer> {
  const {token, user, body} = how
  const answer = await server.call(method, `/flexrack/v1/${path}`, {
    body,
    ...(token !== undefined && {token}),
    ...(user !== undefined && {headers: as(user)}),
  })
  return {...((await answer.json()) as object), status: answer.status}
}
async function start(user: string, claim: ClaimWish): Promise<string> {
  const body = {kind: 'run', run_id: claim.run, experiment_id: '1', claim}
  return (await call('POST', 'tokens', {user, body})).token!
}
const says = (token: string, gpus: string[], leased = 0, nodes = ['n1']): Promise<Answer> =>
  call('POST', 'claims/self', {
    token,
    body: {saved: null, away: false, has: nodes.map((node) => ({node, gpus, exclusive: false, leased}))},
  })
const noted = async (): Promise<string[]> =>
  (await server.parts.audit.newest(99)).flatMap((one) =>
    one.action === 'claim.differs' ? [`${one.target}: ${one.error}`] : [],
  )
const kept = async (): Promise<HeadClaims> =>
  JSON.parse(await readFile(join(folder, 'claims.json'), 'utf8')) as HeadClaims

test('a claim of less GPUs than it names is counted by those', async () => {
  await call('PUT', 'quotas/user:ann', {body: {gpus: {most: 1}}})
  expect(await call('POST', 'claims', {user: 'ann', body: wish('one', ['a', 'b'], {gpus: 0})})).toMatchObject({
    status: 409,
    error: {message: 'GPUs of user ann: 0 + 2 > 1'},
  })
})

test('a run whose nodes gave it more than it claims is counted right, told to end, and loses its token', async () => {
  await call('PUT', 'quotas/user:ann', {body: {gpus: {most: 2}, gpu_hours: {most: 50}}})
  const token = await start('ann', wish('sly', [], {gpus: 0}))
  const honest = await start('ann', wish('honest', ['c']))
  expect(await says(honest, ['c'])).toMatchObject({status: 200, state: 'held'})
  expect(await says(token, ['a', 'b'])).toMatchObject({status: 409, error: {code: 'CLAIM_DIFFERS'}})
  expect(await says(token, []), 'whatever it says then').toMatchObject({status: 409})
  expect(await noted()).toEqual([
    'sly: its claim says 0 GPUs on 1 node, and its nodes gave it GPUs that it does not name (a, b)',
  ])
  expect(await call('POST', 'claims', {user: 'ann', body: wish('next', ['d'])})).toMatchObject({
    status: 409,
    error: {message: 'GPUs of user ann: 3 + 1 > 2'},
  })
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
  await server.parts.claims.sweep()
  await server.parts.claims.sweep()
  expect(await says(token, []), 'its token is gone').toMatchObject({status: 401})
  const {claims, hours} = await kept()
  expect(Object.keys(claims)).toEqual(['honest'])
  expect(hours['user:ann'], 'an hour of two GPUs').toBeCloseTo(2, 1)
})

test('leases without GPUs, and nodes that it does not name, differ too; fewer nodes and GPUs are no matter', async () => {
  const many = wish('many', ['a', 'b'])
  many.parts.push({node: 'n2', gpus: ['c'], exclusive: false})
  expect(await says(await start('ann', {...many, gpus: 3}), ['a'])).toMatchObject({status: 200})
  expect(await says(await start('ann', wish('share', [], {gpus: 0.5})), [], 2)).toMatchObject({status: 200})
  expect(await says(await start('ann', wish('lease', [], {gpus: 0})), [], 2)).toMatchObject({status: 409})
  expect(await says(await start('ann', wish('wide', [])), [], 0, ['n1', 'n2'])).toMatchObject({status: 409})
  const counted = Object.entries((await kept()).claims).map(([run, {gpus, differs}]) => [run, gpus, !!differs])
  expect(counted).toEqual([
    ['many', 3, false],
    ['share', 0.5, false],
    ['lease', 2, true],
    ['wide', 0, true],
  ])
})

test('what somebody else sees on nodes is noted once, and ends nothing', async () => {
  const token = await start('ann', wish('sly', ['a']))
  const seen = [{run: 'sly', parts: [{node: 'n1', gpus: ['a', 'b'], exclusive: false}]}]
  for (const user of ['ann', 'bob', 'bob'])
    await call('POST', 'claims', {user, body: {...wish(`${user}s`, ['b']), wait: true, seen}})
  expect(await noted()).toEqual(['sly: bob sees it with GPUs that it does not claim: b'])
  expect(await says(token, ['a'])).toMatchObject({status: 200})
})

test('a run that goes on long after the time for which others let it pass is noted once, and not ended', async () => {
  const token = await start('ann', wish('short', ['a'], {limit: 60}))
  await start('ann', wish('long', ['b'], {limit: 86_400}))
  await server.parts.claims.sweep()
  expect(await noted()).toEqual([])
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * 3_600_000)
  await server.parts.claims.sweep()
  await server.parts.claims.sweep()
  expect(await noted()).toEqual([expect.stringMatching(/^short: its claim says that it takes 60 s at most, and/)])
  expect(await says(token, ['a'])).toMatchObject({status: 200})
})

test('hostile words of what a run has are refused', async () => {
  const token = await start('ann', wish('one', ['a']))
  for (const has of [7, [7], [{node: 'n1', gpus: ['a'], exclusive: false, leased: -1}], [{node: 'n1'}]])
    expect(await call('POST', 'claims/self', {token, body: {saved: null, away: false, has}})).toMatchObject({
      status: 400,
    })
  expect(await says(token, ['a'], 65), 'no node has as many').toMatchObject({status: 400})
  expect((await kept()).claims.one, 'nothing is charged').toMatchObject({gpus: 1})
})

test("a stolen token charges nobody with more than the claim's own nodes could have, and not for the past", async () => {
  await call('PUT', 'quotas/user:ann', {body: {gpu_hours: {most: 1000}}})
  const began = Date.now()
  const token = await start('ann', wish('one', []))
  await start('bob', {...wish('two', ['b']), parts: [{node: 'n7', gpus: ['b'], exclusive: false}]})
  vi.spyOn(Date, 'now').mockReturnValue(began + 10 * 3_600_000)
  const nodes = Array.from({length: 2000}, (_, at) => `n${at % 1000}`)
  expect(await says(token, ['x'], 50, nodes)).toMatchObject({status: 409, error: {code: 'CLAIM_DIFFERS'}})
  const {claims, hours} = await kept()
  // n1 and n7 are nodes that claims name, each is named twice, and has 64 at most
  expect(claims.one).toMatchObject({gpus: 1 + 2 * 64, heldAt: began + 10 * 3_600_000})
  expect(hours['user:ann'] ?? 0, 'it was granted none').toBe(0)
})

test("a maintainer's priority ends runs of their own project, an admin's those of all", async () => {
  const {people, tokens} = server.parts
  await people.addUser('max', {keys: [], admin: false, source: 'admin'})
  await people.addUser('ada', {keys: [], admin: true, source: 'admin'})
  for (const project of ['one', 'two']) await people.addProject(project)
  await people.grant('one', 'user:max', 'maintainer')
  const tokenOf = async (user: string): Promise<string> =>
    (await tokens.issueUser({user, expiresAt: Date.now() + 600_000})).token
  const low = (project: string): ClaimWish => wish(`low-${project}`, [project], {project, preemptible: true})
  const held = {one: await start('ann', low('one')), two: await start('ann', low('two'))}
  for (const token of Object.values(held)) await call('POST', 'claims/self', {token, body: {saved: null, away: false}})
  const ask = async (user: string, run: string, project: string, gpu: string): Promise<string | null | undefined> => {
    const body = {...wish(run, [gpu], {project, priority: 9}), wait: true, seen: [low('one'), low('two')]}
    return (await call('POST', 'claims', {token: await tokenOf(user), body})).why
  }
  expect(await ask('max', 'high-1', 'one', 'two')).toBe('low-two has what it wants')
  expect(await ask('max', 'high-2', 'one', 'one')).toBe('low-one makes room for it')
  expect(await ask('ada', 'high-3', 'one', 'two')).toBe('low-two makes room for it')
})
