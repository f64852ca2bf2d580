import {readFile, stat} from 'node:fs/promises'
import {createServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {startHeadProcess, statusOf} from '../../support/head-process.ts'
import {startNamed, startTwoHeads, until, type Named, type TwoHeads} from '../../support/two-heads.ts'

let heads: TwoHeads
let [one, other]: Named[] = []
let key: string

beforeAll(async () => {
  ;[one, other] = [await startNamed('one'), await startNamed('other')]
  heads = await startTwoHeads()
  await heads.current()
  await heads.put({active: {release: 'r1', targets: [other!.url]}})
  key = (await heads.newKey('app')).token
  await heads.current()
})
afterAll(async () => {
  await heads?.stop()
  one?.server.close()
  other?.server.close()
})

test('started again while the first head is away it serves what it kept', async () => {
  await heads.first.stop()
  await heads.standby.stop()
  await heads.startStandby()
  expect((await heads.predict(await heads.standbyUri(), key)).text).toBe('{"name":"other"}')
  expect((await heads.standbyIs('away')).following).toMatchObject({node: 'node-1', url: heads.uri})
  await heads.startFirst()
  await heads.standbyIs('following')
})

test('a head of another authority is told nothing, and one that answers nonsense changes nothing', async () => {
  const foreign = await startHeadProcess()
  const {port} = JSON.parse(await readFile(join(foreign.folder, 'listener.json'), 'utf8')) as {port: number}
  await heads.standby.stop()
  await heads.startStandby({url: `https://127.0.0.1:${port}`})
  const away = await heads.standbyIs('away')
  expect(away.following?.lastError).toMatch(/certificate|self-signed|issuer/i)
  expect((await heads.predict(await heads.standbyUri(), key)).text).toBe('{"name":"other"}')
  await foreign.stop()

  // A head of the right authority, whose answers come broken: cut off, no JSON, of no shape, with tokens of another kind.
  const {identity} = JSON.parse(await readFile(join(heads.first.folder, 'tls/listener.json'), 'utf8')) as {
    identity: {key: string; certificate: string}
  }
  const wholes = {format: 1, version: 'x.1', endpoints: {}, rollouts: {}, ca: heads.ca}
  const answers = [
    '{"version": "x.1", "state": {',
    'no JSON',
    '{"state": {"format": 2}}',
    JSON.stringify({state: {...wholes, tokens: {a: {kind: 'personal', hash: 'a'.repeat(64), expiresAt: 9e15}}}}),
    JSON.stringify({state: {...wholes, tokens: {}, endpoints: {'../x': {revision: 1, document: {}}}}}),
  ]
  let asked = 0
  const broken = createServer({key: identity.key, cert: identity.certificate}, (incoming, response) => {
    incoming.resume()
    const text = answers[asked++ % answers.length]!
    response.writeHead(200, {'content-length': asked % answers.length === 1 ? text.length + 10 : text.length})
    response.write(text)
    if (asked % answers.length === 1) response.destroy()
    else response.end()
  })
  await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', () => resolve()))
  await heads.standby.stop()
  await heads.startStandby({url: `https://127.0.0.1:${(broken.address() as AddressInfo).port}`})
  await until(async () => (asked >= answers.length + 1 ? true : undefined))
  expect((await heads.standbyIs('away')).endpoints).toBe(1)
  expect((await heads.predict(await heads.standbyUri(), key)).text).toBe('{"name":"other"}')
  broken.close()
  broken.closeAllConnections()
  await heads.standby.stop()
  await heads.startStandby()
  await heads.standbyIs('following')
})

test('it serves no longer than it is trusted without the head, and nothing once its token is refused', async () => {
  await heads.first.stop()
  await heads.standby.stop()
  await heads.startStandby({trust: 1})
  await heads.standbyIs('expired')
  const answer = await heads.predict(await heads.standbyUri(), key)
  expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('too long')])
  await heads.startFirst()
  await heads.standby.stop()
  await heads.startStandby()
  await heads.standbyIs('following')
  const {followers} = await statusOf(heads.first)
  await heads.first.call('DELETE', `/flexrack/v1/tokens/${followers![0]!.id}`)
  await heads.standbyIs('dismissed')
  expect((await heads.predict(await heads.standbyUri(), key)).status).toBe(401)
  // Also when it is started again; a new token makes it a standby again.
  await heads.standby.stop()
  await heads.startStandby()
  expect((await heads.standbyIs('dismissed')).endpoints).toBe(0)
  await heads.enrol()
  await heads.standbyIs('following')
  await heads.current()
  expect((await heads.predict(await heads.standbyUri(), key)).status).toBe(200)
})

test('started as the head it takes over what it followed, and signs with an authority of its own', async () => {
  const {folder} = heads.standby
  await heads.first.stop()
  await heads.standby.stop()
  const promoted = await startHeadProcess({folder})
  heads.standby = promoted
  const shown = await promoted.call('GET', '/flexrack/v1/endpoints/digits')
  expect(await shown.json()).toMatchObject({revision: heads.revision, document: {active: {targets: [other!.url]}}})
  const ca = await readFile(join(folder, 'tls/ca.pem'), 'utf8')
  expect(ca).toContain(heads.ca.trim())
  expect(await heads.predict(await heads.standbyUri(), key, ca)).toMatchObject({status: 200, text: '{"name":"other"}'})
  await expect(stat(join(folder, 'followed.json'))).rejects.toThrow('ENOENT')
  expect((await promoted.call('POST', '/flexrack/v1/tokens', {kind: 'endpoint', endpoint: 'digits'})).status).toBe(200)
  heads.first = {...heads.first, stop: () => Promise.resolve(0)}
}, 30_000)
