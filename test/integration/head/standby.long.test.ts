import {readFile, stat} from 'node:fs/promises'
import {createServer} from 'node:https'
import {request} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {HEAD_NAME, type ServerStatus} from '../../../src/lib/head/types.ts'
import {startHeadProcess} from '../../support/head-process.ts'
import {startNamed, startTwoHeads, until, type TwoHeads} from '../../support/two-heads.ts'

let heads: TwoHeads
let [one, other]: Awaited<ReturnType<typeof startNamed>>[] = []
let key: string

beforeAll(async () => {
  ;[one, other] = [await startNamed('one'), await startNamed('other')]
  heads = await startTwoHeads()
  await heads.current()
  await put({active: {release: 'r1', targets: [one.url]}})
  key = (await newKey('app')).token
})
afterAll(async () => {
  await heads?.stop()
  one?.server.close()
  other?.server.close()
})

let revision = 0
async function put(document: object): Promise<void> {
  const answer = await heads.first.call('PUT', '/flexrack/v1/endpoints/digits', {revision, document})
  expect(answer.status).toBe(200)
  revision = ((await answer.json()) as {revision: number}).revision
}

async function newKey(client: string, more: object = {}): Promise<{id: string; token: string}> {
  const answer = await heads.first.call('POST', '/flexrack/v1/tokens', {
    kind: 'endpoint',
    endpoint: 'digits',
    client,
    ...more,
  })
  return (await answer.json()) as {id: string; token: string}
}

/** One prediction at a head, over TLS as clients come, or without an answer. */
function predict(base: string, token: string, ca = heads.ca): Promise<{status: number; text: string}> {
  return new Promise((resolve, reject) => {
    const call = request(
      `${base}/endpoints/digits/v2/models/digits/infer`,
      {
        method: 'POST',
        ca,
        agent: false,
        headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json'},
      },
      (answer) => {
        let text = ''
        answer.on('data', (chunk) => (text += String(chunk)))
        answer.on('end', () => resolve({status: answer.statusCode!, text}))
        answer.on('error', reject)
      },
    )
    call.on('error', reject)
    call.end('{"inputs": []}')
  })
}

async function standbyUri(): Promise<string> {
  const {port} = JSON.parse(await readFile(join(heads.standby.folder, 'listener.json'), 'utf8')) as {port: number}
  return `https://127.0.0.1:${port}`
}

test('a head of another authority is told nothing, and one that answers nonsense changes nothing', async () => {
  const foreign = await startHeadProcess()
  const {port} = JSON.parse(await readFile(join(foreign.folder, 'listener.json'), 'utf8')) as {port: number}
  await heads.standby.stop()
  await heads.startStandby({url: `https://127.0.0.1:${port}`})
  const away = await heads.standbyIs('away')
  expect(away.following?.lastError).toMatch(/certificate|self-signed|issuer/i)
  expect((await predict(await standbyUri(), key)).text).toBe('{"name":"other"}')
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
  expect((await predict(await standbyUri(), key)).text).toBe('{"name":"other"}')
  broken.close()
  broken.closeAllConnections()
  await heads.standby.stop()
  await heads.startStandby()
  await heads.standbyIs('following')
  expect(HEAD_NAME).toBe('flexrack-head')
})

test('it serves no longer than it is trusted without the head, and nothing once its token is refused', async () => {
  await heads.first.stop()
  await heads.standby.stop()
  await heads.startStandby({trust: 1})
  await heads.standbyIs('expired')
  const answer = await predict(await standbyUri(), key)
  expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('too long')])
  await heads.startFirst()
  await heads.standby.stop()
  await heads.startStandby()
  await heads.standbyIs('following')
  const {followers} = (await (await heads.first.call('GET', '/flexrack/v1/status')).json()) as ServerStatus
  await heads.first.call('DELETE', `/flexrack/v1/tokens/${followers![0]!.id}`)
  await heads.standbyIs('dismissed')
  expect((await predict(await standbyUri(), key)).status).toBe(401)
  // Also when it is started again; a new token makes it a standby again.
  await heads.standby.stop()
  await heads.startStandby()
  expect((await heads.standbyIs('dismissed')).endpoints).toBe(0)
  await heads.enrol()
  await heads.standbyIs('following')
  await heads.current()
  expect((await predict(await standbyUri(), key)).status).toBe(200)
})
