import {readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {startHeadProcess, statusOf, type HeadProcess} from '../../support/head-process.ts'
import {startNamed, startTwoHeads, until, type Named, type TwoHeads} from '../../support/two-heads.ts'

// The first head is lost, its standby is made the head, and the first one comes back as it was.
let heads: TwoHeads
let [one, other]: Named[] = []
let key: string
let promoted: HeadProcess

beforeAll(async () => {
  ;[one, other] = [await startNamed('one'), await startNamed('other')]
  heads = await startTwoHeads()
  await heads.current()
  await heads.put({active: {release: 'r1', targets: [one!.url]}})
  key = (await heads.newKey('app')).token
  await heads.current()
  process.kill(heads.first.pid, 'SIGKILL')
  await heads.standby.stop()
  promoted = await startHeadProcess({folder: heads.standby.folder})
  heads.standby = promoted
  const document = {active: {release: 'r2', targets: [other!.url]}}
  const answer = await promoted.call('PUT', '/flexrack/v1/endpoints/digits', {revision: heads.revision, document})
  expect(answer.status).toBe(200)
})
afterAll(async () => {
  await heads?.stop()
  one?.server.close()
  other?.server.close()
})

const isGone = (file: string): Promise<true | undefined> =>
  stat(join(promoted.folder, file)).then(
    () => undefined,
    () => true,
  )

const hasSteppedDown = (): Promise<true | undefined> =>
  statusOf(heads.first).then(({superseded}) => (superseded === undefined ? undefined : true))

test('it hears of it from the new head, and steps down: it answers nothing but how it is', async () => {
  const first = await heads.startFirst()
  await until(hasSteppedDown)
  const {superseded} = await statusOf(first)
  expect(superseded).toMatchObject({node: 'node-2', url: await heads.standbyUri()})
  const words = expect.stringContaining(`stepped down: node-2 (${superseded!.url})`)
  const answer = await heads.predict(heads.uri, key)
  expect([answer.status, answer.text]).toEqual([503, words])
  const change = await first.call('PUT', '/flexrack/v1/endpoints/digits', {revision: heads.revision, document: {}})
  expect([change.status, await change.text()]).toEqual([421, words])
  const look = await first.call('GET', '/flexrack/v1/endpoints/digits')
  expect([look.status, await look.text()]).toEqual([421, words])
  const tracking = await first.call('POST', '/api/2.0/mlflow/runs/create', {})
  expect([tracking.status, await tracking.text()]).toEqual([503, words])
  expect((await first.call('GET', '/flexrack/v1/metrics')).status).toBe(421)
  // The new one goes on, and has nobody to tell any more.
  expect((await heads.predict(await heads.standbyUri(), key, await trusted())).text).toBe('{"name":"other"}')
  await until(() => isGone('former.json'))
})

test('also when it is started again, with nobody there to tell it', async () => {
  const url = await heads.standbyUri()
  await heads.first.stop()
  await promoted.stop()
  const first = await heads.startFirst()
  expect((await heads.predict(heads.uri, key)).status).toBe(503)
  expect((await statusOf(first)).superseded).toMatchObject({url})
})

test('no other token makes a head step down, nor one without an address', async () => {
  const alone = await startHeadProcess()
  const tell = (token: string, body: object): Promise<number> =>
    fetch(`${alone.url}/flexrack/v1/follow/superseded`, {
      method: 'POST',
      headers: {authorization: `Bearer ${token}`},
      body: JSON.stringify(body),
    }).then((answer) => answer.status)
  const answer = await alone.call('POST', '/flexrack/v1/tokens', {
    kind: 'standby',
    node: 'node-2',
    names: ['127.0.0.1'],
  })
  const {token} = (await answer.json()) as {token: string}
  const url = 'https://127.0.0.1:1'
  expect(await tell(`standby.none.${'x'.repeat(43)}`, {url})).toBe(401)
  expect(await tell(alone.token, {url})).toBe(403)
  expect(await tell(token, {url: 'http://127.0.0.1:1/x'})).toBe(400)
  expect((await statusOf(alone)).superseded).toBeUndefined()
  const ended = await fetch(`${alone.url}/flexrack/v1/superseded`, {
    method: 'DELETE',
    headers: {authorization: `Bearer ${token}`},
  })
  expect(ended.status).toBe(403)
  await alone.stop()
})

test('the admin has it be the head again, and who took over can tell it nothing more', async () => {
  expect((await heads.first.call('DELETE', '/flexrack/v1/superseded')).status).toBe(200)
  await until(() =>
    statusOf(heads.first).then(
      () => undefined,
      () => true,
    ),
  )
  await heads.startFirst()
  expect((await heads.predict(heads.uri, key)).text).toBe('{"name":"one"}')
  const {superseded, followers} = await statusOf(heads.first)
  expect([superseded, followers]).toEqual([undefined, []])
})

function trusted(): Promise<string> {
  return readFile(join(promoted.folder, 'tls/ca.pem'), 'utf8')
}
