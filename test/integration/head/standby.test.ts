import {readFile, stat} from 'node:fs/promises'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {startNamed, startTwoHeads, until, type Named, type TwoHeads} from '../../support/two-heads.ts'

let heads: TwoHeads
let [one, other]: Named[] = []
let key: string

beforeAll(async () => {
  ;[one, other] = [await startNamed('one'), await startNamed('other')]
  heads = await startTwoHeads()
  await heads.current()
  await heads.put({active: {release: 'r1', targets: [one!.url]}})
  key = (await heads.newKey('app')).token
  await heads.current()
})
afterAll(async () => {
  await heads?.stop()
  one?.server.close()
  other?.server.close()
})

test('a standby answers the same endpoints with the same keys, by a certificate of the same authority', async () => {
  await heads.current()
  expect(await heads.predict(heads.uri, key)).toMatchObject({status: 200, text: '{"name":"one"}'})
  expect(await heads.predict(await heads.standbyUri(), key)).toMatchObject({status: 200, text: '{"name":"one"}'})
  expect((await heads.predict(await heads.standbyUri(), 'endpoint.none.none')).status).toBe(401)
  await heads.put({active: {release: 'r2', targets: [other!.url]}})
  await heads.current()
  expect((await heads.predict(await heads.standbyUri(), key)).text).toBe('{"name":"other"}')
})

test('what it keeps is readable by its owner only, and holds no token', async () => {
  const file = join(heads.standby.folder, 'followed.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const text = await readFile(file, 'utf8')
  for (const secret of [key.split('.')[2]!, heads.first.token]) expect(text).not.toContain(secret)
})

test('what is changed, or tracked, is refused there in words that name the head', async () => {
  const change = await heads.standby.call('PUT', '/flexrack/v1/endpoints/digits', {
    revision: heads.revision,
    document: {},
  })
  expect([change.status, await change.text()]).toEqual([421, expect.stringContaining(`on node-1 (${heads.uri})`)])
  const tokens = await heads.standby.call('POST', '/flexrack/v1/tokens', {kind: 'endpoint', endpoint: 'digits'})
  expect(tokens.status).toBe(421)
  const tracking = await heads.standby.call('POST', '/api/2.0/mlflow/runs/create', {})
  expect([tracking.status, await tracking.text()]).toEqual([503, expect.stringContaining('tracking is at the head')])
})

test('the parts of a canary, and what the judge decides, are followed', async () => {
  const canary = {release: 'r3', since: '2026-01-01T00:00:00Z', targets: [one!.url], steps: [100]}
  await heads.put({active: {release: 'r2', targets: [other!.url]}, canary})
  await heads.current()
  expect((await heads.predict(await heads.standbyUri(), key)).text).toBe('{"name":"one"}')
  await heads.put({active: {release: 'r2', targets: [other!.url]}})
  await heads.current()
  expect((await heads.predict(await heads.standbyUri(), key)).text).toBe('{"name":"other"}')
})

test('0 requests are lost while the first head is killed with -9 and comes back, by a client that knows both', async () => {
  const [first, second] = [heads.uri, await heads.standbyUri()]
  let stopped = false
  const counts = {answered: 0, byStandby: 0, lost: [] as string[]}
  const work = async (): Promise<void> => {
    while (!stopped) {
      const answer = await heads.predict(first, key).catch(async () => {
        counts.byStandby++
        return heads.predict(second, key).catch((error: Error) => ({status: 0, text: error.message}))
      })
      if (answer.status === 200) counts.answered++
      else counts.lost.push(`${answer.status} ${answer.text}`)
      await new Promise((resolve) => setTimeout(resolve, 20)) // a head that starts needs the processor, too
    }
  }
  const workers = Array.from({length: 4}, work)
  const more = async (count: number): Promise<void> => {
    const goal = counts.answered + count
    await until(async () => (counts.answered >= goal ? true : undefined))
  }
  await more(20)
  process.kill(heads.first.pid, 'SIGKILL')
  await more(40)
  expect(counts.byStandby).toBeGreaterThan(20)
  await heads.standbyIs('away')
  await heads.startFirst()
  const before = counts.byStandby
  await more(40)
  stopped = true
  await Promise.all(workers)
  expect(counts.lost).toEqual([])
  expect(counts.byStandby - before).toBeLessThan(20)
  await heads.current()
})

test('a key that is revoked opens nothing at the standby when the revocation is answered', async () => {
  const {token} = await heads.newKey('gone')
  await heads.current()
  expect((await heads.predict(await heads.standbyUri(), token)).status).toBe(200)
  const answer = await heads.first.call('DELETE', '/flexrack/v1/endpoints/digits/keys/gone')
  expect(await answer.json()).toEqual({followed: true})
  expect((await heads.predict(await heads.standbyUri(), token)).status).toBe(401)
})

test('requests under way at the standby count at the first head, which waits for them before servers end', async () => {
  const held: (() => void)[] = []
  const server = createServer((_request, response) => void held.push(() => response.end('{}')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await heads.put({active: {release: 'r4', targets: [url]}})
  await heads.current()
  const answer = heads.predict(await heads.standbyUri(), key)
  const seen = async (): Promise<number> => {
    const shown = (await (await heads.first.call('GET', '/flexrack/v1/endpoints/digits')).json()) as {
      in_flight: Record<string, number>
    }
    return shown.in_flight[url] ?? 0
  }
  await until(async () => ((await seen()) === 1 ? true : undefined))
  held.pop()!()
  expect((await answer).status).toBe(200)
  await until(async () => ((await seen()) === 0 ? true : undefined))
  server.close()
  await heads.put({active: {release: 'r2', targets: [other!.url]}})
  await heads.current()
})

test('a standby gets nothing with another token, and its own opens nothing else', async () => {
  const token = (await readFile(join(heads.standby.folder, 'follow-token'), 'utf8')).trim()
  const ask = (path: string, shown: string, method = 'POST'): Promise<number> =>
    fetch(heads.first.url + path, {
      method,
      headers: {authorization: `Bearer ${shown}`},
      ...(method === 'POST' && {body: '{}'}),
    }).then((answer) => answer.status)
  for (const shown of ['standby.none.none', `standby.${token.split('.')[1]}.${'x'.repeat(43)}`])
    expect(await ask('/flexrack/v1/follow', shown)).toBe(401)
  expect(await ask('/flexrack/v1/follow', key)).toBe(403)
  expect(await ask('/flexrack/v1/follow', heads.first.token)).toBe(403)
  for (const [path, method] of [
    ['/flexrack/v1/status', 'GET'],
    ['/flexrack/v1/endpoints', 'GET'],
    ['/flexrack/v1/tokens', 'POST'],
    ['/flexrack/v1/certificates', 'POST'],
    ['/endpoints/digits/v2/models/digits/infer', 'POST'],
    ['/api/2.0/mlflow/experiments/search', 'POST'],
  ] as const)
    expect([path, await ask(path, token, method)]).toEqual([path, 403])
  for (const names of [['flexrack-standby'], ['127.0.0.1']])
    expect((await heads.first.call('POST', '/flexrack/v1/certificates', {names})).status).toBe(400)
})
