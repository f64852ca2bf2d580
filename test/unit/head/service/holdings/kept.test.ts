import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import type {HoldWish} from '../../../../../src/lib/head/types.ts'
import {as, wish} from '../../../../support/claim-wishes.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'

const GIB = 2 ** 30
let folder: string
let server: TestServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-kept-'))
  server = await openTestServer(undefined, {folder})
})
afterEach(async () => {
  await server?.close()
  await rm(folder, {recursive: true, force: true})
})

interface Answer {
  status: number
  counts?: boolean
  token?: string
  state?: string
  why?: string
  sums?: {text: string; over: boolean}[]
  quotas?: {of: string; limits: {have: number}[]}[]
  error?: {code: string; message: string}
}
async function call(
  path: string,
  body?: unknown,
  how: {user?: string; token?: string; method?: string} = {},
): Promise<Answer> {
  const {user = 'ann', token, method = body === undefined ? 'GET' : 'POST'} = how
  const answer = await server.call(method, `/flexrack/v1/${path}`, {
    headers: as(user),
    ...(token !== undefined && {token}),
    ...(body !== undefined && {body}),
  })
  return {...((await answer.json()) as object), status: answer.status}
}
const limit = (of: string, disk: object): Promise<Answer> => call(`quotas/${of}`, {disk}, {method: 'PUT'})
const used = async (): Promise<number[]> =>
  (await call('quotas')).quotas!.flatMap(({limits}) => limits.map(({have}) => have / GIB))
async function start(user: string, run: string): Promise<Answer> {
  return call('tokens', {kind: 'run', run_id: run, experiment_id: '1', claim: wish(run, [])}, {user})
}
const says = (token: string, node: string, bytes: number | null, owner = 'ann@desk'): Promise<Answer> =>
  call('holdings/self', {node, owner, bytes}, {token})

test('what runs keep on a node counts as it was looked at last, for the user and project of the run', async () => {
  const token = (await start('ann', 'one')).token!
  expect(await says(token, 'n1', null), 'nobody is limited: nothing need be looked at').toMatchObject({counts: false})
  await limit('user:ann', {most: 10 * GIB})
  await limit('project:digits', {most: 20 * GIB})
  expect(await says(token, 'n1', null)).toMatchObject({status: 200, counts: true})
  await says(token, 'n1', 3 * GIB)
  await says(token, 'n2', GIB)
  expect(await used()).toEqual([4, 4])
  await says(token, 'n1', 2 * GIB)
  await says((await start('bob', 'two')).token!, 'n1', 5 * GIB, 'bob@desk')
  expect(await used()).toEqual([3, 8])
  const another = {node: 'n1', owner: 'ann@desk', project: 'digits', bytes: 0}
  await call('holdings/kept', another, {user: 'bob'})
  expect(await used(), "nobody speaks of another's").toEqual([3, 8])
  await call('holdings/kept', another)
  await server.close()
  server = await openTestServer(undefined, {folder})
  expect(await used(), 'also after a restart').toEqual([1, 6])
})

test('where disk is over its limit no run begins, and no data is brought; the sum says by whom', async () => {
  await limit('project:digits', {most: 2 * GIB})
  const token = (await start('ann', 'one')).token!
  const data: HoldWish = {kind: 'data', name: 'n1/pets@3fa9', project: 'digits', amount: GIB}
  await says(token, 'n1', 1.5 * GIB)
  expect((await call('claims', wish('two', []), {user: 'bob'})).state).toBe('held')
  expect((await call('holdings', data)).error?.message).toBe('GiB of disk of project digits: 1.5 (ann 1.5) + 1 > 2')
  await says(token, 'n1', 2.5 * GIB)
  const text = 'GiB of disk of project digits: 2.5 (ann 2.5) of 2 are used'
  expect(await call('claims', wish('three', []), {user: 'bob'})).toMatchObject({
    status: 409,
    error: {code: 'QUOTA', message: text},
  })
  expect(await call('claims', {...wish('three', []), wait: true}, {user: 'bob'})).toMatchObject({
    state: 'waiting',
    why: text,
  })
  const outlook = {project: 'digits', gpus: null}
  expect((await call('claims/outlook', outlook)).sums).toMatchObject([{text, over: true}])
  expect(await says(token, 'n1', 2.5 * GIB), 'the run that is there goes on').toMatchObject({status: 200})
  await call('holdings/kept', {node: 'n1', owner: 'ann@desk', project: 'digits', bytes: GIB})
  expect((await call('claims', {...wish('three', []), wait: true}, {user: 'bob'})).state).toBe('held')
})

test('a word that no node could mean is refused, and so is one of a run that the head does not know', async () => {
  await limit('user:ann', {most: GIB})
  const token = (await start('ann', 'one')).token!
  for (const word of [{bytes: 2 ** 51}, {bytes: -1}, {bytes: 'all'}, {node: 'a b'}, {owner: ''}, {owner: 7}])
    expect(await call('holdings/self', {node: 'n1', owner: 'ann@desk', bytes: 1, ...word}, {token})).toMatchObject({
      status: 400,
    })
  const plain = (await call('tokens', {kind: 'run', run_id: 'two', experiment_id: '1'})).token!
  expect(await says(plain, 'n1', 1)).toMatchObject({status: 404})
  expect(await used()).toEqual([0])
  expect(await says(token, 'n1', 2 ** 29, 'Jörg Müller@desk'), 'as accounts are called').toMatchObject({status: 200})
  expect(await used()).toEqual([0.5])
})

test('a question of more than is kept for one user is refused as bringing that would be', async () => {
  await limit('user:ann', {most: 10 * GIB})
  const data = {kind: 'data', name: 'n1/pets@3fa9', project: 'digits', amount: 1}
  const beside = (count: number): object[] =>
    Array.from({length: count}, (_, at) => ({name: `n1/more@${at}`, amount: 1}))
  expect(await call('holdings/outlook', {...data, beside: beside(999)})).toMatchObject({status: 200})
  expect(await call('holdings/outlook', {...data, beside: beside(1000)})).toMatchObject({
    status: 429,
    error: {message: 'ann would have more at once than the 1000 that are kept for one user'},
  })
})
