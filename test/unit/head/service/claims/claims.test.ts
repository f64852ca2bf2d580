import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import type {ClaimAnswer, ClaimWish, QueuedRun} from '../../../../../src/lib/head/types.ts'
import {as, wish} from '../../../../support/claim-wishes.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'

let folder: string
let server: TestServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-claims-'))
  server = await openTestServer(undefined, {folder})
})
afterEach(async () => {
  await server?.close()
  await rm(folder, {recursive: true, force: true})
})

interface Answered {
  status: number
  body: ClaimAnswer & {error?: {code: string; message: string}}
}
async function ask(user: string, body: ClaimWish): Promise<Answered> {
  const answer = await server.call('POST', '/flexrack/v1/claims', {body, headers: as(user)})
  return {status: answer.status, body: (await answer.json()) as Answered['body']}
}
const limit = async (of: string, limits: object): Promise<number> =>
  (await server.call('PUT', `/flexrack/v1/quotas/${of}`, {body: limits})).status
const queue = async (): Promise<QueuedRun[]> =>
  ((await (await server.call('GET', '/flexrack/v1/claims')).json()) as {queue: QueuedRun[]}).queue
async function start(user: string, claim: ClaimWish): Promise<{status: number; token: string}> {
  const body = {kind: 'run', run_id: claim.run, experiment_id: '1', claim}
  const answer = await server.call('POST', '/flexrack/v1/tokens', {body, headers: as(user)})
  return {status: answer.status, token: ((await answer.json()) as {token: string}).token}
}

test('of twenty who ask for the last GPU at once one gets it, and the sums of the others add up', async () => {
  expect(await limit('user:*', {gpus: {most: 100}})).toBe(200)
  expect(await limit('project:digits', {gpus: {most: 8}})).toBe(200)
  expect((await ask('alice', wish('big', ['a', 'b', 'c', 'd', 'e', 'f', 'g']))).status).toBe(200)
  const answers = await Promise.all(Array.from({length: 20}, (_, at) => ask(`user${at}`, wish(`run-${at}`, ['h']))))
  const refused = answers.filter((one) => one.status === 409)
  expect(answers.filter((one) => one.status === 200)).toHaveLength(1)
  expect(refused).toHaveLength(19)
  const winner = answers.findIndex((one) => one.status === 200)
  for (const {body} of refused) {
    expect(body.error?.code).toBe('QUOTA')
    expect(body.error?.message).toBe(`GPUs of project digits: 8 (alice 7, user${winner} 1) + 1 > 8`)
  }
  const noted = await server.parts.audit.newest(99)
  expect(noted.filter((one) => one.action === 'claim' && one.error?.startsWith('GPUs of project'))).toHaveLength(19)
  expect(noted.filter((one) => one.action === 'quota.set')).toHaveLength(2)
})

test("a claim lives as long as its run's token, and its GPU hours stay", async () => {
  await limit('user:alice', {gpus: {most: 1}, gpu_hours: {most: 5, soft: true}})
  expect((await ask('alice', wish('one', ['a']))).body).toMatchObject({state: 'held', over: []})
  const {token} = await start('alice', wish('one', ['a']))
  expect((await server.call('DELETE', '/flexrack/v1/claims/one')).status, 'the run has it').toBe(200)
  expect((await ask('alice', wish('two', ['b']))).status).toBe(409)
  await server.call('DELETE', '/flexrack/v1/tokens/self', {token})
  expect((await ask('alice', wish('two', ['b'], {limit: 6 * 3600}))).body).toMatchObject({
    state: 'held',
    over: [{what: 'gpu_hours', soft: true, text: 'GPU hours of this month of user alice: 0 + 6 > 5'}],
  })
  const kept = JSON.parse(await readFile(join(folder, 'claims.json'), 'utf8')) as {hours: object; claims: object}
  expect(Object.keys(kept.hours)).toEqual(['user:alice', 'project:digits'])
  expect(Object.keys(kept.claims)).toEqual(['two'])
})

test('who comes without having asked is refused with its token, and then has none', async () => {
  await limit('user:bob', {runs: {most: 1}})
  expect((await start('bob', wish('one', []))).status).toBe(200)
  expect((await start('bob', wish('two', []))).status).toBe(409)
  expect(server.parts.tokens.runs().map((one) => one.runId)).toEqual(['one'])
})

test('whose turn it is the head says: by priority, and whoever is over in time passes', async () => {
  const held = wish('long', ['a'], {limit: 4000})
  await start('ann', held)
  const seen = [{run: 'long', parts: held.parts}]
  const waits = (run: string, gpus: string[], more: Partial<ClaimWish> = {}): ClaimWish =>
    wish(run, gpus, {wait: true, seen, ...more})
  expect((await ask('bob', waits('wide', ['a', 'b'], {limit: 50}))).body).toMatchObject({
    state: 'waiting',
    why: 'long has what it wants',
  })
  expect((await ask('cat', waits('slow', ['b'], {limit: 5000}))).body).toMatchObject({
    state: 'waiting',
    why: 'wide is before it in line',
  })
  expect((await ask('cat', waits('small', ['b'], {limit: 300}))).body).toMatchObject({
    state: 'held',
    passes: ['wide', 'slow'],
  })
  expect((await queue()).map((one) => [one.position, one.run])).toEqual([
    [1, 'wide'],
    [2, 'slow'],
  ])
  await ask('cat', waits('urgent', ['a', 'b'], {limit: 50, priority: 5}))
  expect((await queue()).map((one) => one.run)).toEqual(['urgent', 'wide', 'slow'])
})

test('what nodes have and the head does not know holds up, and what they lost does not', async () => {
  const stranger = [{run: 'untracked', parts: [{node: 'n1', gpus: ['a'], exclusive: false}]}]
  expect((await ask('bob', wish('mine', ['a'], {wait: true, seen: stranger}))).body.state).toBe('waiting')
  expect((await ask('bob', wish('mine', ['a'], {wait: true, seen: []}))).body.state).toBe('held')
})

test('whose run it is is not changed, hostile words are refused, and a run of its own may not ask', async () => {
  await ask('alice', wish('mine', ['a']))
  expect((await ask('mallory', wish('mine', ['a']))).status).toBe(409)
  for (const body of [{}, {...wish('x', []), parts: 'all'}, {...wish('x', []), priority: 1e9}, {...wish('../x', [])}])
    expect((await server.call('POST', '/flexrack/v1/claims', {body, headers: as('a')})).status).toBe(400)
  expect(await limit('user:..%2Fx', {gpus: {most: 1}})).toBe(400)
  expect(await limit('team:vision', {seats: {most: 1}})).toBe(400)
  expect(await limit('team:vision', {})).toBe(400)
  const {token} = await start('alice', wish('own', []))
  expect((await server.call('POST', '/flexrack/v1/claims', {body: wish('y', []), token})).status).toBe(403)
})

const hours = async (): Promise<number> => {
  const {hours: kept} = JSON.parse(await readFile(join(folder, 'claims.json'), 'utf8')) as {
    hours: Record<string, number>
  }
  return kept['user:alice'] ?? 0
}

test('what was granted for little is not taken for more, and asking again does not forget what a run has', async () => {
  await limit('user:alice', {gpus: {most: 1}})
  expect((await ask('alice', wish('one', ['a']))).body.state).toBe('held')
  expect((await start('alice', wish('one', ['a', 'b']))).status).toBe(409)
  const {token} = await start('alice', wish('one', ['a']))
  expect((await ask('alice', wish('one', []))).body.state).toBe('held')
  expect((await ask('alice', wish('two', ['b']))).status, 'the first one has a GPU still').toBe(409)
  await new Promise((resolve) => setTimeout(resolve, 5))
  await start('alice', wish('one', []))
  const before = await hours()
  expect(before, 'as it had one until it said that it needs none').toBeGreaterThan(0)
  await server.call('DELETE', '/flexrack/v1/tokens/self', {token})
  expect(await hours()).toBe(before)
})

test('what would take the head long to compare, or to keep, is refused', async () => {
  const ids = Array.from({length: 64}, (_, at) => `${at}`)
  const parts = Array.from({length: 400}, (_, at) => ({node: `n${at}`, gpus: ids, exclusive: false}))
  expect((await ask('mallory', wish('x', [], {parts}))).status).toBe(400)
  const seen = [{run: 'y', parts}]
  expect((await ask('mallory', wish('x', [], {seen}))).status).toBe(400)
  const half = parts.slice(0, 160)
  expect((await ask('mallory', wish('x', [], {parts: half}))).status).toBe(200)
  expect((await ask('mallory', wish('x', [], {parts: half}))).status, 'the same one again').toBe(200)
  expect((await ask('mallory', wish('y', [], {parts: half}))).status).toBe(429)
  expect((await start('mallory', wish('y', [], {parts: half}))).status).toBe(429)
  expect((await ask('alice', wish('z', [], {parts: half}))).status).toBe(200)
  const body = {kind: 'run', run_id: 'r', experiment_id: '1', claim: null}
  expect((await server.call('POST', '/flexrack/v1/tokens', {body})).status).toBe(400)
})
