import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import {endpointAmounts} from '../../../../../src/lib/head/service/holdings/endpoints.ts'
import type {HoldWish, QuotaSum, QuotaUse} from '../../../../../src/lib/head/types.ts'
import {as} from '../../../../support/claim-wishes.ts'
import {openTestServer, type TestServer} from '../../../../support/head-server.ts'

let folder: string
let server: TestServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-holdings-'))
  server = await openTestServer(undefined, {folder})
})
afterEach(async () => {
  vi.restoreAllMocks()
  await server?.close()
  await rm(folder, {recursive: true, force: true})
})

interface Answer {
  status: number
  over?: QuotaSum[]
  sums?: QuotaSum[]
  quotas?: QuotaUse[]
  error?: {code: string; message: string; own?: string[]}
}
async function call(method: string, path: string, body?: unknown, user = 'ann'): Promise<Answer> {
  const answer = await server.call(method, `/flexrack/v1/${path}`, {
    headers: as(user),
    ...(body !== undefined && {body}),
  })
  return {...((await answer.json()) as object), status: answer.status}
}
const notebook = (node: string, more: Partial<HoldWish> = {}): HoldWish => ({
  kind: 'notebook',
  name: `${node}/digits`,
  project: 'digits',
  amount: 1,
  ...more,
})
const limit = (of: string, limits: object): Promise<Answer> => call('PUT', `quotas/${of}`, limits)
const used = async (of: string): Promise<Record<string, number | null>> => {
  const {quotas} = await call('GET', 'quotas')
  return Object.fromEntries(quotas!.find((one) => one.of === of)!.limits.map(({what, have}) => [what, have]))
}

test('of twenty who start the last notebook at once one does, and who has one already starts it anew', async () => {
  await limit('project:digits', {notebooks: {most: 2}})
  expect((await call('POST', 'holdings', notebook('n1'))).status).toBe(200)
  const answers = await Promise.all(
    Array.from({length: 20}, (_, at) => call('POST', 'holdings', notebook('n2'), `user${at}`)),
  )
  const winner = answers.findIndex((one) => one.status === 200)
  const refused = answers.filter((one) => one.status === 409)
  expect(refused).toHaveLength(19)
  for (const {error} of refused)
    expect(error).toMatchObject({
      code: 'QUOTA',
      message: `notebooks of project digits: 2 (ann 1, user${winner} 1) + 1 > 2`,
      own: [],
    })
  expect((await call('POST', 'holdings', notebook('n1'))).status, 'the same again').toBe(200)
  expect((await call('POST', 'holdings', notebook('n3'))).error, 'it may be on its way').toMatchObject({own: []})
  const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 1_000_000)
  expect((await call('POST', 'holdings', notebook('n3'))).error).toMatchObject({own: ['n1/digits']})
  later.mockRestore()
  expect(await used('project:digits')).toEqual({notebooks: 2})
  await call('POST', 'holdings/release', {kind: 'notebook', project: 'digits', names: ['n1/digits']}, 'bob')
  expect(await used('project:digits'), "nobody gives back another's").toEqual({notebooks: 2})
  await call('POST', 'holdings/release', {kind: 'notebook', project: 'digits', names: ['n1/digits']})
  expect((await call('POST', 'holdings', notebook('n3'))).status).toBe(200)
})

test('one that ends by itself counts until then; soft limits are told; the head knows it all after a restart', async () => {
  await limit('user:*', {notebooks: {most: 1}, disk: {most: 3 * 2 ** 30, soft: true}})
  await limit('user:ann', {notebooks: {most: 1}, disk: {most: 3 * 2 ** 30, soft: true}})
  await call('POST', 'holdings', notebook('n1', {until: Date.now() + 60_000}))
  const data = {kind: 'data', name: 'n1/pets@3fa9', project: 'digits', amount: 2 ** 30}
  expect(await call('POST', 'holdings', data)).toMatchObject({status: 200, over: []})
  expect(await call('POST', 'holdings/outlook', {...data, name: 'n2/pets@3fa9', amount: 5 * 2 ** 29})).toMatchObject({
    sums: [{text: 'GiB of disk of user ann: 1 + 2.5 > 3', over: true, soft: true}],
  })
  expect((await call('POST', 'holdings', {...data, name: 'n2/pets@3fa9', amount: 5 * 2 ** 29})).over).toHaveLength(1)
  const both = {
    ...data,
    beside: [
      {name: 'n2/pets@3fa9', amount: 5 * 2 ** 29},
      {name: 'n3/pets@3fa9', amount: 2 ** 30},
    ],
  }
  expect((await call('POST', 'holdings/outlook', both)).sums, 'what is there counts once').toMatchObject([
    {text: 'GiB of disk of user ann: 0 + 4.5 > 3', over: true},
  ])
  for (const beside of [7, [null, {name: 'a b'}], [{amount: -1}]])
    expect((await call('POST', 'holdings/outlook', {...data, beside})).status).toBe(400)
  await server.close()
  server = await openTestServer(undefined, {folder})
  expect(await used('user:ann')).toEqual({notebooks: 1, disk: 3.5 * 2 ** 30})
  expect((await call('POST', 'holdings', notebook('n2'))).status).toBe(409)
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000)
  expect((await call('POST', 'holdings', notebook('n2'))).status).toBe(200)
})

test('endpoints and their servers count with their documents: more is refused, less and the same are let be', async () => {
  const document = (servers: number, more: object = {}): object => ({
    active: null,
    project: 'digits',
    releases: [{state: 'active', replicas: Array.from({length: servers}, () => ({}))}],
    ...more,
  })
  const put = (name: string, revision: number, body: object): Promise<Answer> =>
    call('PUT', `endpoints/${name}`, {revision, document: body})
  expect((await put('one', 0, document(3))).status, 'before there are quotas').toBe(200)
  await limit('project:digits', {endpoints: {most: 2}, servers: {most: 4}})
  expect((await put('two', 0, document(1, {planned: 2}))).error?.message).toBe(
    'model servers of project digits: 3 (ann 3) + 2 > 4',
  )
  expect((await put('two', 0, document(1))).status).toBe(200)
  expect((await put('three', 0, document(0))).error?.message).toBe('endpoints of project digits: 2 (ann 2) + 1 > 2')
  await limit('project:digits', {servers: {most: 1}})
  expect((await put('one', 1, document(3))).status, 'as many as before').toBe(200)
  expect((await put('one', 2, document(2))).status).toBe(200)
  expect(await used('project:digits')).toEqual({servers: 3})
  const wish = {kind: 'endpoint', name: 'one', project: 'digits', amount: 5}
  expect((await call('POST', 'holdings/outlook', wish)).sums?.map((one) => one.text)).toEqual([
    'model servers of project digits: 1 (ann 1) + 5 > 1',
  ])
  await limit('user:bob', {servers: {most: 1}})
  const {sums} = await call('POST', 'holdings/outlook', wish, 'bob')
  expect(sums, 'whoever changes it, it is hers').toHaveLength(1)
  expect((await call('POST', 'holdings', wish)).status, 'it counts with its document').toBe(400)
  await call('DELETE', 'endpoints/one')
  expect(await used('project:digits')).toEqual({servers: 1})
})

test('an endpoint that is made anew while the old one is taken away counts', async () => {
  await limit('project:digits', {endpoints: {most: 2}})
  const body = {revision: 0, document: {active: null, project: 'digits', releases: []}}
  expect((await call('PUT', 'endpoints/one', body)).status).toBe(200)
  const {endpoints} = server.parts
  const remove = endpoints.remove.bind(endpoints)
  let anew: Promise<Answer> | undefined
  vi.spyOn(endpoints, 'remove').mockImplementation(async (name) => {
    await remove(name)
    anew = call('PUT', 'endpoints/one', body)
    await new Promise((resolve) => setTimeout(resolve, 50))
  })
  expect((await call('DELETE', 'endpoints/one')).status).toBe(200)
  expect((await anew!).status).toBe(200)
  expect(await used('project:digits')).toEqual({endpoints: 1})
})

test('a switch over several racks counts from its promise on, and one that is dropped counts as before', async () => {
  await limit('project:digits', {endpoints: {most: 2}, servers: {most: 4}})
  const change = (name: string, revision: number, servers: number): object => ({
    name,
    revision,
    document: {
      active: null,
      project: 'digits',
      releases: [{state: 'active', replicas: Array.from({length: servers}, () => ({}))}],
    },
  })
  const promise = (id: number, ...changes: object[]): Promise<Answer> =>
    call('PUT', `joint/${at(id)}`, {racks: ['lab', 'cloud'], changes, lease_seconds: 60})
  const decide = async (id: number, decision: string): Promise<number> =>
    (await call('POST', `joint/${at(id)}/decision`, {decision})).status
  const at = (id: number): string => `00000000-0000-0000-0000-00000000000${id}`
  expect((await promise(1, change('one', 0, 3), change('two', 0, 2))).error?.message).toBe(
    'model servers of project digits: 3 (ann 3) + 2 > 4',
  )
  expect((await call('GET', `joint/${at(1)}`)).status, 'nothing is promised').toBe(404)
  expect((await promise(2, change('one', 0, 1))).status).toBe(200)
  expect(await used('project:digits')).toEqual({endpoints: 1, servers: 1})
  expect(await decide(2, 'committed')).toBe(200)
  expect((await promise(3, change('one', 1, 4), change('two', 0, 0))).status).toBe(200)
  expect(await used('project:digits')).toEqual({endpoints: 2, servers: 4})
  expect(await decide(3, 'dropped')).toBe(200)
  expect(await used('project:digits')).toEqual({endpoints: 1, servers: 1})
})

test('of a range the most counts, of a canary both releases, and a hostile document counts nothing', () => {
  const release = (state: string, more: object): object => ({state, replicas: [{}], ...more})
  const both = {releases: [release('active', {scaling: {max: 4}}), release('canary', {}), release('stopped', {})]}
  expect(endpointAmounts(both)).toEqual({endpoints: 1, servers: 5})
  for (const bad of [null, 7, {releases: [null, {state: 'active', replicas: 'x', scaling: {max: -1}}]}, {planned: '9'}])
    expect(endpointAmounts(bad)).toEqual({endpoints: 1, servers: 0})
})

test('hostile words are refused', async () => {
  for (const body of [
    {},
    notebook('n1', {amount: -1}),
    {...notebook('n1'), kind: 'run'},
    {...notebook('n1'), name: 'a b'},
    notebook('n1', {until: 1e16}),
  ])
    expect((await call('POST', 'holdings', body)).status).toBe(400)
  expect((await call('POST', 'holdings/release', {kind: 'notebook', project: 'x', names: 7})).status).toBe(400)
  expect((await call('PUT', 'endpoints', {changes: [null]})).status).toBe(400)
  expect((await limit('user:ann', {constructor: {most: 1}})).status).toBe(400)
})
