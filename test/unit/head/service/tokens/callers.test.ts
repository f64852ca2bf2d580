import {mkdtemp, rm} from 'node:fs/promises'
import {Socket} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import {Callers} from '../../../../../src/lib/head/service/tokens/callers.ts'
import type {Logins} from '../../../../../src/lib/head/service/tokens/browser-login.ts'
import type {PendingConnections} from '../../../../../src/lib/head/service/limits/pending-connections.ts'
import {Tokens} from '../../../../../src/lib/head/service/tokens/tokens.ts'

let folder: string
let tokens: Tokens
let callers: Callers
const socket = new Socket()
const known = vi.fn()

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-callers-'))
  tokens = await Tokens.open(folder)
  const logins = {check: () => undefined} as unknown as Logins
  callers = new Callers(tokens, logins, {know: known} as unknown as PendingConnections)
  known.mockClear()
})
afterEach(() => rm(folder, {recursive: true}))

const issue = (endpoint: string): Promise<{id: string; token: string}> =>
  tokens.issue({kind: 'endpoint', endpoint, ttl_seconds: 60})
const show = (token: string, on = socket): unknown => callers.identify({authorization: `Bearer ${token}`}, on)

test('a connection that shows the same again is the same caller, without another hash', async () => {
  const {token} = await issue('digits')
  const caller = show(token)
  expect(caller).toMatchObject({kind: 'endpoint', endpoint: 'digits'})
  const check = vi.spyOn(tokens, 'check')
  expect(show(token)).toBe(caller)
  expect([check.mock.calls.length, known.mock.calls.length]).toEqual([0, 1])
})

test('what another connection has shown, or this one before, opens nothing for another word', async () => {
  const [digits, letters] = [await issue('digits'), await issue('letters')]
  show(digits.token)
  expect(show(letters.token)).toMatchObject({endpoint: 'letters'})
  expect(show(digits.token)).toMatchObject({endpoint: 'digits'})
  for (const wrong of [`${digits.token}x`, digits.token.slice(0, -1), 'wrong'])
    expect(() => show(wrong)).toThrow('wrong, revoked or expired')
  expect(() => callers.identify({}, socket)).toThrow('a token is needed')
  expect(() => show(`${digits.token}x`, new Socket())).toThrow('wrong, revoked or expired')
})

test('a token that was shown before is refused once it is revoked, has ended, or is told to be another one', async () => {
  const [revoked, ended, other] = [await issue('a'), await issue('b'), await issue('c')]
  show(revoked.token)
  await tokens.revoke(revoked.id)
  expect(() => show(revoked.token)).toThrow('wrong, revoked or expired')
  show(ended.token)
  await tokens.shorten(ended.id, 1e-9)
  expect(() => show(ended.token)).toThrow('wrong, revoked or expired')
  show(other.token)
  const kept = tokens.forFollowers()
  tokens.follow({[other.id]: {...kept[other.id]!, endpoint: 'd'}})
  expect(show(other.token)).toMatchObject({endpoint: 'd'})
})
