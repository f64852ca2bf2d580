import {mkdtemp, rm, stat} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {userPaths} from '../../../src/lib/base/index.ts'
import {dropLogin, keepLogin, readLogin} from '../../../src/lib/login/index.ts'

let home: string
beforeEach(async () => (home = await mkdtemp(join(tmpdir(), 'flexrack-login-'))))
afterEach(() => rm(home, {recursive: true}))

const LOGIN = {
  rack: 'lab/1',
  user: 'ada',
  id: 'x',
  token: 'user.x.secret',
  address: '10.0.0.1',
  port: 5000,
  url: 'https://10.0.0.1:5000',
  ca: 'pem',
  method: 'ssh',
} as const

test('a login is kept for its rack, for the account alone, until it ends or is forgotten', async () => {
  const context = {env: {HOME: home}}
  expect(await readLogin('lab/1', context)).toBeUndefined()
  await keepLogin({...LOGIN, expiresAt: Date.now() + 60_000}, context)
  expect(await readLogin('lab/1', context)).toMatchObject({user: 'ada', token: 'user.x.secret'})
  expect(await readLogin('lab', context)).toBeUndefined()
  const file = join(userPaths(context.env).state, 'logins', 'lab%2F1.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700)
  await keepLogin({...LOGIN, expiresAt: Date.now() - 1}, context)
  await expect(readLogin('lab/1', context)).rejects.toMatchObject({code: 'REFUSED'})
  await dropLogin('lab/1', context)
  expect(await readLogin('lab/1', context)).toBeUndefined()
})
