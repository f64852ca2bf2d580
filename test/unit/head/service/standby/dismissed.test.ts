import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import {Endpoints} from '../../../../../src/lib/head/service/documents/endpoints.ts'
import {Rollouts} from '../../../../../src/lib/head/service/releases/rollouts.ts'
import {adoptFollowed} from '../../../../../src/lib/head/service/standby/adopt.ts'
import {Dismissed, FirstHead} from '../../../../../src/lib/head/service/standby/first-head.ts'
import {readFollowed, writeFollowed} from '../../../../../src/lib/head/service/standby/followed.ts'
import {Following} from '../../../../../src/lib/head/service/standby/following.ts'
import {readSnapshot, type Snapshot} from '../../../../../src/lib/head/service/standby/snapshot.ts'
import {Authority} from '../../../../../src/lib/head/service/tls/authority.ts'
import {Tokens} from '../../../../../src/lib/head/service/tokens/tokens.ts'
import {Traffic} from '../../../../../src/lib/head/service/gateway/traffic.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-dismissed-'))))
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, {recursive: true, force: true})
})

const rollout = {release: 'r1', since: 's', state: 'running', step: 0, percent: 5, stepSince: 0, looks: 0} as const
const snapshot = (changes: Partial<Snapshot> = {}): Snapshot => ({
  format: 1,
  version: 'a.1',
  endpoints: {digits: {revision: 1, document: {}}},
  rollouts: {digits: rollout},
  tokens: {},
  ca: '-----BEGIN CERTIFICATE-----',
  ...changes,
})

test('a key that ends after a standby was dismissed does not come back where that one is made the head', async () => {
  const first = join(folder, 'first')
  const own = join(folder, 'own')
  const [authority, tokens] = [await Authority.open(first), await Tokens.open(first)]
  const {token} = await tokens.issue({kind: 'endpoint', endpoint: 'digits', client: 'app', ttl_seconds: 3600})
  const [listener, gateway] = await Promise.all(
    (['server', 'client'] as const).map((usage) => authority.issueLeaf({name: 'x', names: ['x'], usage})),
  )
  const state = snapshot({tokens: tokens.forFollowers(), ca: authority.trusted})
  await writeFollowed(own, {tokenId: 'id', heardAt: Date.now(), listener: listener!, gateway: gateway!, state})
  await writeFile(join(own, 'follow-token'), 'standby.id.secret\n')
  vi.spyOn(FirstHead.prototype, 'ask').mockRejectedValue(new Dismissed('status 401'))
  const follow = {url: 'https://127.0.0.1:1', ca: authority.trusted, node: 'a', near: true}
  const following = await Following.open(
    {folder: own, version: '1', bind: '127.0.0.1', port: 0, python: '', follow},
    {
      tokens: await Tokens.following(own),
      endpoints: Endpoints.following(),
      rollouts: Rollouts.following(),
      traffic: new Traffic(),
    },
  )
  following.start(() => '')
  await expect.poll(async () => (await readFollowed(own))?.dismissed).toBe(true)
  await following.end()
  await adoptFollowed(own)
  expect((await Endpoints.open(own)).names()).toEqual(['digits'])
  expect((await Tokens.open(own)).check(token)).toBeUndefined()
})

test('a head names no file outside of the folder of its standby', () => {
  expect(readSnapshot(snapshot())).toMatchObject({version: 'a.1'})
  for (const name of ['../../x', '/etc/x', '.', 'a/b', ''])
    for (const changes of [{rollouts: {[name]: rollout}}, {endpoints: {[name]: {revision: 1, document: {}}}}])
      expect(() => readSnapshot(snapshot(changes)), JSON.stringify(changes)).toThrow('name')
})
