import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import {ChangePace} from '../../../../../src/lib/head/service/audit/pace.ts'
import {turnOf} from '../../../../../src/lib/head/service/claims/facts.ts'
import {Failure} from '../../../../../src/lib/head/service/failure.ts'
import type {ClaimAnswer, ClaimOutlook, ClaimWish, QueuedRun, RunWordAnswer} from '../../../../../src/lib/head/types.ts'
import type {HeadClaim} from '../../../../../src/lib/protocol/index.ts'
import {as, wish} from '../../../../support/claim-wishes.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'

let folder: string
let server: TestServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-room-'))
  server = await openTestServer(undefined, {folder})
})
afterEach(async () => {
  await server?.close()
  await rm(folder, {recursive: true, force: true})
})

async function call<T>(method: string, path: string, how: {user?: string; token?: string; body?: unknown}): Promise<T> {
  const {user, token, body} = how
  const answer = await server.call(method, `/flexrack/v1/${path}`, {
    body,
    ...(token !== undefined && {token}),
    ...(user !== undefined && {headers: as(user)}),
  })
  return (await answer.json()) as T
}

/** A run that has begun; gives its token. */
async function start(user: string, claim: ClaimWish): Promise<string> {
  const body = {kind: 'run', run_id: claim.run, experiment_id: '1', claim}
  return (await call<{token: string}>('POST', 'tokens', {user, body})).token
}

const ask = (user: string, claim: ClaimWish, ...held: ClaimWish[]): Promise<ClaimAnswer> =>
  call('POST', 'claims', {user, body: {...claim, wait: true, seen: held.map(({run, parts}) => ({run, parts}))}})
const say = (token: string, word: {saved?: number; away?: boolean} = {}): Promise<RunWordAnswer> =>
  call('POST', 'claims/self', {token, body: {saved: null, away: false, ...word}})
const queue = async (): Promise<string[]> =>
  (await call<{queue: QueuedRun[]}>('GET', 'claims', {})).queue.map((one) => one.run)

test('who holds what a higher priority waits for is told, gives it back, waits, and gets its turn again', async () => {
  const low = wish('low', ['a'], {preemptible: true})
  const token = await start('ann', low)
  expect(await say(token)).toMatchObject({state: 'held', room: null})
  const high = wish('high', ['a'], {priority: 5})
  expect(await ask('bob', high, low)).toMatchObject({state: 'waiting', why: 'low makes room for it'})
  await ask('bob', high, low)
  expect(await say(token)).toMatchObject({room: 'high'})
  const noted = (await server.parts.audit.newest(99)).filter((one) => one.action === 'run.preempt')
  expect(noted.map((one) => [one.who, one.target])).toEqual([['head', 'low for high']])

  expect(await say(token, {away: true})).toMatchObject({state: 'waiting', why: 'high has what it wants'})
  expect(await queue()).toEqual(['high', 'low'])
  expect(await ask('bob', high)).toMatchObject({state: 'held', passes: ['low']})
  const second = await start('bob', high)
  expect(await say(token, {away: true})).toMatchObject({state: 'waiting', why: 'high has what it wants'})
  await server.call('DELETE', '/flexrack/v1/tokens/self', {token: second})
  expect(await say(token, {away: true})).toMatchObject({state: 'held'})
  expect(await say(token)).toMatchObject({state: 'held', room: null})
  const kept = JSON.parse(await readFile(join(folder, 'claims.json'), 'utf8')) as {hours: Record<string, number>}
  expect(kept.hours['user:ann'], 'what it had before it made room counts').toBeGreaterThan(0)
})

test('the hours that a run had before it made room count once when it asks for its turn', async () => {
  await call('PUT', 'quotas/user:ann', {body: {gpu_hours: {most: 1.5}}})
  const token = await start('ann', wish('low', ['a'], {preemptible: true}))
  const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
  try {
    expect(await say(token, {away: true})).toMatchObject({state: 'held'})
  } finally {
    later.mockRestore()
  }
})

test('nobody ends for nothing: not where another holder stays, nor for whom it does not help, nor for who left', async () => {
  const [soft, firm] = [wish('soft', ['a'], {preemptible: true}), wish('firm', ['b'])]
  const token = await start('ann', soft)
  await say(token)
  await start('ann', firm)
  const both = wish('both', ['a', 'b'], {priority: 5})
  expect(await ask('bob', both, soft, firm)).toMatchObject({why: 'soft, firm have what it wants'})
  expect(await say(token)).toMatchObject({room: null})
  expect(await ask('bob', wish('second', ['a'], {priority: 4}), soft)).toMatchObject({
    why: 'soft has what it wants; both is before it in line',
  })
  await call('DELETE', 'claims/both', {user: 'bob'})
  expect(await ask('bob', wish('second', ['a'], {priority: 4}), soft)).toMatchObject({why: 'soft makes room for it'})
  expect(await say(token)).toMatchObject({room: 'second'})
  await call('DELETE', 'claims/second', {user: 'bob'})
  expect(await say(token)).toMatchObject({room: null})
})

test('a run in line that a quota keeps out ends nobody', async () => {
  const low = wish('low', ['a'], {preemptible: true})
  const token = await start('ann', low)
  await start('bob', wish('own', ['b']))
  await call('PUT', 'quotas/user:bob', {body: {gpus: {most: 1}}})
  await ask('bob', wish('high', ['a'], {priority: 5}), low)
  expect(await say(token)).toMatchObject({room: null})
})

test('a plan is told the sums, and who would make room in which order', async () => {
  await call('PUT', 'quotas/project:digits', {body: {gpus: {most: 3}, runs: {most: 9, soft: true}}})
  const [old, fresh] = [wish('old', ['a'], {preemptible: true}), wish('fresh', ['b'], {preemptible: true})]
  const tokens = [await start('ann', old), await start('ann', fresh)] as const
  await start('ann', wish('stays', ['c']))
  await say(tokens[0], {saved: 0})
  await say(tokens[1])
  await server.parts.claims.sweep()
  const body = {project: 'digits', priority: 5, gpus: 1, limit: null}
  const outlook = await call<ClaimOutlook>('POST', 'claims/outlook', {user: 'bob', body})
  expect(outlook.sums.map(({text, over}) => [text, over])).toEqual([
    ['GPUs of project digits: 3 (ann 3) + 1 > 3', true],
    ['runs of project digits: 3 (ann 3) + 1 of 9', false],
  ])
  expect(outlook.room.map((one) => one.run).toSorted()).toEqual(['fresh', 'old'])
  const none = await call<ClaimOutlook>('POST', 'claims/outlook', {user: 'bob', body: {...body, priority: 0}})
  expect(none.room).toEqual([])
  const unknown = await call<ClaimOutlook>('POST', 'claims/outlook', {user: 'bob', body: {...body, gpus: null}})
  expect(unknown.sums.map((one) => one.what)).toEqual(['runs'])
})

test('only a run speaks for itself, in words that it may say', async () => {
  const token = await start('ann', wish('low', ['a'], {preemptible: true}))
  const status = async (body: unknown, shown?: string): Promise<number> =>
    (await server.call('POST', '/flexrack/v1/claims/self', {body, ...(shown && {token: shown})})).status
  expect(await status({saved: 1, away: false}), 'the admin has no claim').toBe(404)
  expect(await status({saved: -1, away: false}, token)).toBe(400)
  expect(await status({saved: null, away: 'yes'}, token)).toBe(400)
  expect(await status({saved: null, away: false}, token)).toBe(200)
  expect(await status({saved: Date.now() / 1000, away: false}, token), 'a checkpoint of 1970').toBe(200)
})

test('who wants something else by now keeps nobody told, nor does who comes back under its name', async () => {
  const [one, two] = [wish('one', ['a'], {preemptible: true}), wish('two', ['b'], {preemptible: true})]
  const tokens = [await start('ann', one), await start('ann', two)] as const
  for (const token of tokens) await say(token)
  await ask('bob', wish('high', ['a'], {priority: 5}), one, two)
  expect(await say(tokens[0])).toMatchObject({room: 'high'})
  await ask('bob', wish('high', ['b'], {priority: 5}), one, two)
  expect(await say(tokens[0]), 'what it has is wanted no more').toMatchObject({room: null})
  expect(await say(tokens[1])).toMatchObject({room: 'high'})

  await call('DELETE', 'claims/high', {user: 'bob'})
  await ask('cyd', wish('high', ['b'], {priority: -5}), one, two)
  expect(await say(tokens[1]), 'the lower priority has only its name').toMatchObject({room: null})
  await call('DELETE', 'claims/high', {user: 'cyd'})

  await ask('bob', wish('high', ['b'], {priority: 5}), one, two)
  expect(await say(tokens[1])).toMatchObject({room: 'high'})
  await call('DELETE', 'claims/high', {user: 'bob'})
  await start('cyd', wish('own', ['y']))
  await call('PUT', 'quotas/user:cyd', {body: {runs: {most: 1}}})
  const unlooked = {...wish('high', ['z'], {priority: -5}), wait: true}
  expect(await call('POST', 'claims', {user: 'cyd', body: unlooked})).toMatchObject({state: 'waiting'})
  expect(await say(tokens[1]), 'also where it has not looked at the nodes').toMatchObject({room: null})
})

test('who was waited for, and then began, is no reason to end once it waits again', async () => {
  const low = wish('low', ['a'], {preemptible: true})
  const token = await start('ann', low)
  await say(token)
  const high = wish('high', ['a'], {priority: 5, preemptible: true})
  await ask('bob', high, low)
  expect(await say(token)).toMatchObject({room: 'high'})
  const second = await start('bob', high)
  await say(second, {away: true})
  expect(await say(token)).toMatchObject({room: null})
})

test('a run that is silent is not waited for: others would end in vain', async () => {
  const [deaf, hears] = [wish('deaf', ['a'], {preemptible: true}), wish('hears', ['b'], {preemptible: true})]
  await start('ann', deaf)
  const token = await start('ann', hears)
  await say(token)
  const both = wish('both', ['a', 'b'], {priority: 5})
  expect(await ask('bob', both, deaf, hears)).toMatchObject({why: 'deaf, hears have what it wants'})
  expect(await say(token)).toMatchObject({room: null})
})

test('a run that makes no room does not leave what it counts for by a word', async () => {
  const token = await start('ann', wish('firm', ['a']))
  const answer = await server.call('POST', '/flexrack/v1/claims/self', {body: {saved: null, away: true}, token})
  expect(answer.status).toBe(409)
  expect(await queue()).toEqual([])
})

test('who made room is not kept out by a command that has something and begins nothing', () => {
  const now = 1e12
  const claim = {...wish('low', ['a']), user: 'ann', teams: [], since: 0, seenAt: now, state: 'waiting'} as HeadClaim
  const startsBeside = (other: Partial<HeadClaim>): boolean | undefined =>
    turnOf('low', claim, [['other', {...claim, user: 'bob', state: 'held', ...other}]], {
      overOf: () => [],
      now,
      used: {},
    })?.starts
  expect(startsBeside({heldAt: now - 60_000})).toBe(false)
  expect(startsBeside({heldAt: now - 3_600_000, token: 'id'})).toBe(false)
  expect(startsBeside({heldAt: now - 3_600_000})).toBe(true)
})

test('nobody fills the log by runs of their own that make room', async () => {
  const low = wish('low', ['a'], {preemptible: true})
  const token = await start('ann', low)
  await say(token)
  const take = vi.spyOn(ChangePace.prototype, 'take').mockImplementation((user) => {
    if (user === 'ann') throw new Failure(429, 'REFUSED', 'too many')
  })
  try {
    expect(await ask('ann', wish('high', ['a'], {priority: 5}), low)).toMatchObject({error: {code: 'REFUSED'}})
    expect(await say(token)).toMatchObject({room: null})
    expect(await queue()).toEqual([])
    expect(await ask('bob', wish('high', ['a'], {priority: 5}), low)).toMatchObject({why: 'low makes room for it'})
  } finally {
    take.mockRestore()
  }
})
