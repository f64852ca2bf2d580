import {mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest'
import {Endpoints} from '../../../../src/lib/head/service/documents/endpoints.ts'
import {revokeEnded} from '../../../../src/lib/head/service/tokens/expiry.ts'
import {Locks} from '../../../../src/lib/head/service/documents/locks.ts'
import {Logins, ownerIn, type Owner} from '../../../../src/lib/head/service/tokens/browser-login.ts'
import {Tokens} from '../../../../src/lib/head/service/tokens/tokens.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-head-state-'))
  vi.useFakeTimers({toFake: ['Date']})
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(folder, {recursive: true, force: true})
})
const pass = (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1000)
const RUN = {kind: 'run', run_id: 'r', experiment_id: '1', ttl_seconds: 60}

describe('endpoints that are changed together', () => {
  const of = (release: string): object => ({active: {release, targets: []}})
  const change = (name: string, revision: number, release = 'r2'): object => ({name, revision, document: of(release)})
  const kept = async (): Promise<object> => {
    const endpoints = await Endpoints.open(folder)
    return Object.fromEntries(endpoints.names().map((name) => [name, endpoints.find(name)?.document.active?.release]))
  }
  const before = async (): Promise<Endpoints> => {
    const endpoints = await Endpoints.open(folder)
    await endpoints.put('a', {revision: 0, document: of('r1')})
    await endpoints.put('b', {revision: 0, document: of('r1')})
    return endpoints
  }

  test('all are others at once, over a restart, and the gateway is told of each', async () => {
    const endpoints = await before()
    const told: string[] = []
    endpoints.whenChanged((name) => told.push(name))
    const records = await endpoints.putTogether([change('a', 1), change('c', 0), change('b', 1)])
    expect(records.map(({revision}) => revision)).toEqual([2, 1, 2])
    expect(told).toEqual(['a', 'c', 'b'])
    expect(await kept()).toEqual({a: 'r2', b: 'r2', c: 'r2'})
    expect(await readdir(folder)).toEqual(['endpoints'])
  })

  test('none is where one was changed meanwhile, is named twice, or is no document', async () => {
    const endpoints = await before()
    const refused: [unknown, number][] = [
      [[change('a', 1), change('b', 0)], 409],
      [[change('a', 1), change('a', 1)], 400],
      [[change('a', 1), {name: 'b', revision: 1, document: {active: 7}}], 400],
      [[change('a', 1), change('../b', 1)], 400],
      [[], 400],
      ['a', 400],
      [[null], 400],
    ]
    for (const [changes, status] of refused)
      await expect(endpoints.putTogether(changes)).rejects.toMatchObject({status})
    expect(await kept()).toEqual({a: 'r1', b: 'r1'})
  })

  test('none is where a file cannot be written', async () => {
    const endpoints = await before()
    // The third one's file is a folder, which nothing is renamed over.
    await mkdir(join(folder, 'endpoints', 'c.json', 'in-the-way'), {recursive: true})
    await expect(endpoints.putTogether([change('a', 1), change('b', 1), change('c', 0)])).rejects.toThrow()
    expect(endpoints.find('a')?.document.active?.release).toBe('r1')
    await rm(join(folder, 'endpoints', 'c.json'), {recursive: true})
    expect(await kept()).toEqual({a: 'r1', b: 'r1'})
  })

  test('a head that was killed in the middle begins with what was', async () => {
    await (await before()).putTogether([change('a', 1), change('c', 0)])
    const was = {a: {revision: 1, document: of('r1')}, c: null}
    await writeFile(join(folder, 'endpoint-switch.json'), JSON.stringify({schema: 1, before: was}))
    expect(await kept()).toEqual({a: 'r1', b: 'r1'})
    expect(await readdir(folder)).toEqual(['endpoints'])
  })
})

describe('tokens', () => {
  test('open for whom they were made until they expire or are revoked, over a restart', async () => {
    const tokens = await Tokens.open(folder)
    const {token, id} = await tokens.issue(RUN)
    const again = await Tokens.open(folder)
    expect(again.check(token)).toEqual({kind: 'run', id, runId: 'r', experimentId: '1'})
    pass(61)
    expect(again.check(token)).toBeUndefined()
    const other = await again.issue({kind: 'endpoint', endpoint: 'digits', ttl_seconds: 60})
    expect(again.check(other.token)).toMatchObject({kind: 'endpoint', endpoint: 'digits'})
    await again.revoke(other.id)
    expect((await Tokens.open(folder)).check(other.token)).toBeUndefined()
  })

  test('can be made to end sooner, never later, over a restart', async () => {
    const tokens = await Tokens.open(folder)
    const [{token, id, expires_at: before}, other] = await Promise.all([tokens.issue(RUN), tokens.issue(RUN)])
    expect((await tokens.shorten(id, 3600)).expires_at).toBe(before)
    for (const wrong of [0, -1, Number.NaN, '5', undefined])
      await expect(tokens.shorten(id, wrong)).rejects.toMatchObject({status: 400})
    expect(await tokens.shorten(id, 10)).toEqual({expires_at: Date.now() + 10_000})
    const again = await Tokens.open(folder)
    expect(again.check(token)).toMatchObject({id})
    pass(11)
    expect([tokens.check(token), again.check(token)]).toEqual([undefined, undefined])
    expect(again.check(other.token)).toMatchObject({id: other.id})
    await expect(tokens.shorten('nobody', 10)).rejects.toMatchObject({status: 404})
  })

  test('of persons have a name and an end, and are listed without their secrets', async () => {
    const tokens = await Tokens.open(folder)
    const first = await tokens.issue({kind: 'personal', name: 'notebook', ttl_seconds: 60})
    pass(1)
    const {id, token} = await tokens.issue({kind: 'personal', name: 'ci', ttl_seconds: 365 * 86_400})
    expect(tokens.check(token)).toEqual({kind: 'personal', id})
    const listed = (await Tokens.open(folder)).personal()
    expect(listed).toEqual([
      {id, name: 'ci', created_at: Date.now(), expires_at: Date.now() + 90 * 86_400_000},
      {id: first.id, name: 'notebook', created_at: Date.now() - 1000, expires_at: first.expires_at},
    ])
    pass(60)
    expect([tokens.check(first.token), tokens.personal().map((one) => one.name)]).toEqual([undefined, ['ci']])
    for (const name of [undefined, '', 'x'.repeat(101)])
      await expect(tokens.issue({kind: 'personal', name})).rejects.toMatchObject({status: 400})
  })

  test('of runs that nobody gave back are revoked an hour after the run has ended, and where it is gone', async () => {
    const tokens = await Tokens.open(folder)
    const now = Date.now()
    const ends: Record<string, number | 'open' | 'gone' | undefined> = {
      long: now - 3_700_000,
      just: now - 60_000,
      open: 'open',
      gone: 'gone',
      unknown: undefined,
    }
    const issued = await Promise.all(
      Object.keys(ends).map(
        async (run) => [run, (await tokens.issue({...RUN, run_id: run, ttl_seconds: 86_400})).token] as const,
      ),
    )
    expect(await revokeEnded(tokens, (run) => Promise.resolve(ends[run]))).toBe(2)
    expect(issued.filter(([, token]) => tokens.check(token)).map(([run]) => run)).toEqual(['just', 'open', 'unknown'])
  })

  test('are not made anew where the admin token is there and cannot be read, or is none', async () => {
    const file = join(folder, 'admin-token')
    await Tokens.open(folder)
    const before = await readFile(file, 'utf8')
    await rename(file, `${file}.away`)
    await mkdir(file)
    await expect(Tokens.open(folder)).rejects.toThrow(/the admin token .*admin-token cannot be read/)
    await rm(file, {recursive: true})
    for (const text of ['', '\n', 'admin.short', 'run.x.y']) {
      await writeFile(file, text)
      await expect(Tokens.open(folder)).rejects.toThrow('holds no admin token')
      expect(await readFile(file, 'utf8')).toBe(text)
    }
    await rename(`${file}.away`, file)
    expect((await Tokens.open(folder)).check(before.trim())).toEqual({kind: 'admin'})
  })

  test('are kept as hashes, in files that only their owner reads', async () => {
    const tokens = await Tokens.open(folder)
    const {token} = await tokens.issue(RUN)
    const text = await readFile(join(folder, 'tokens.json'), 'utf8')
    expect(text).not.toContain(token.split('.')[2])
    for (const file of ['tokens.json', 'admin-token']) expect((await stat(join(folder, file))).mode & 0o077).toBe(0)
  })

  test('with another kind, another secret or nothing in them open nothing', async () => {
    const tokens = await Tokens.open(folder)
    const {token} = await tokens.issue(RUN)
    const [, id, secret] = token.split('.')
    for (const wrong of [
      `endpoint.${id}.${secret}`,
      `run.${id}.x`,
      `run.${id}`,
      'admin.x',
      '',
      `run.__proto__.${secret}`,
    ])
      expect(tokens.check(wrong)).toBeUndefined()
  })

  test('cannot be made for nothing or for ever', async () => {
    const tokens = await Tokens.open(folder)
    await expect(tokens.issue({kind: 'run', ttl_seconds: 5})).rejects.toMatchObject({status: 400})
    await expect(tokens.issue({...RUN, ttl_seconds: 0})).rejects.toMatchObject({status: 400})
    expect((await tokens.issue({...RUN, ttl_seconds: 1e12})).expires_at).toBeLessThan(
      Date.now() + 91 * 24 * 3600 * 1000,
    )
  })
})

describe('locks', () => {
  test('are held by one until given back or run out, and each new holder has a larger fence, over a restart', async () => {
    const locks = await Locks.open(folder)
    const first = await locks.put('deploy', {owner: 'me', ttl_seconds: 10})
    await expect(locks.put('deploy', {owner: 'you', ttl_seconds: 10})).rejects.toMatchObject({
      status: 409,
      code: 'LOCKED',
      more: {holder: 'me'},
    })
    const again = await Locks.open(folder)
    expect((await again.put('deploy', {owner: 'me', ttl_seconds: 10, fence: first.fence})).fence).toBe(first.fence)
    pass(11)
    await expect(again.put('deploy', {owner: 'me', ttl_seconds: 10, fence: first.fence})).rejects.toMatchObject({
      code: 'LOCKED',
    })
    const second = await again.put('deploy', {owner: 'you', ttl_seconds: 10})
    expect(second.fence).toBeGreaterThan(first.fence)
    await expect(again.remove('deploy', first.fence)).rejects.toMatchObject({code: 'LOCKED'})
    await again.remove('deploy', second.fence)
    expect((await again.put('deploy', {owner: 'me', ttl_seconds: 10})).fence).toBeGreaterThan(second.fence)
  })

  test('asked for by many at once go to one', async () => {
    const locks = await Locks.open(folder)
    const all = await Promise.allSettled(
      Array.from({length: 10}, (_, index) => locks.put('one', {owner: `user ${index}`, ttl_seconds: 10})),
    )
    expect(all.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
  })
})

describe('endpoint documents', () => {
  test('are replaced only by who read the newest, and are there after a restart', async () => {
    const endpoints = await Endpoints.open(folder)
    await endpoints.put('digits', {revision: 0, document: {active: {targets: ['http://127.0.0.1:1']}}})
    const all = await Promise.allSettled(
      [1, 1, 1].map((revision, index) => endpoints.put('digits', {revision, document: {index}})),
    )
    expect(all.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect((await Endpoints.open(folder)).get('digits')).toEqual({revision: 2, document: {index: 0}})
    await endpoints.remove('digits')
    expect(await readdir(join(folder, 'endpoints'))).toEqual([])
    expect(() => endpoints.get('digits')).toThrow('no endpoint digits')
  })

  test.each([
    ['../x', {}],
    ['digits', []],
    ['digits', {active: {targets: ['file:///etc/passwd']}}],
  ])('refuses %s with %j', async (name, document) => {
    const endpoints = await Endpoints.open(folder)
    await expect(endpoints.put(name, {revision: 0, document})).rejects.toMatchObject({status: 400})
  })
})

describe('login codes', () => {
  test('give a cookie once and only for a minute; the cookie is no bearer token', async () => {
    const tokens = await Tokens.open(folder)
    const logins = new Logins(tokens)
    const {code} = logins.issue()
    const cookie = (await logins.trade(code, '127.0.0.1:5')).cookie.split(';')[0]!
    expect(logins.check({cookie, host: '127.0.0.1:5'})).toMatchObject({kind: 'session'})
    expect(logins.check({cookie, host: '127.0.0.1:5', origin: 'http://127.0.0.1:5'})).toMatchObject({kind: 'session'})
    expect(() => logins.check({cookie, host: '127.0.0.1:5', origin: 'http://127.0.0.1:6'})).toThrow('another page')
    await expect(logins.trade(code, '127.0.0.1:5')).rejects.toMatchObject({status: 403})
    const late = logins.issue()
    pass(61)
    await expect(logins.trade(late.code, '127.0.0.1:5')).rejects.toMatchObject({status: 403})
  })

  test('give a cookie that is good at one port only, so that two heads take none away', async () => {
    const logins = new Logins(await Tokens.open(folder))
    const [one, two] = [
      (await logins.trade(logins.issue().code, 'localhost:5')).cookie.split(';')[0]!,
      (await logins.trade(logins.issue().code, 'localhost:6')).cookie.split(';')[0]!,
    ]
    expect(one.split('=')[0]).not.toBe(two.split('=')[0])
    const jar = `${one}; ${two}` // as a browser sends it to both
    for (const host of ['localhost:5', 'localhost:6'])
      expect(logins.check({cookie: jar, host})).toMatchObject({kind: 'session', host})
    for (const host of ['localhost:7', '127.0.0.1:5', 'localhost', undefined])
      expect(logins.check({cookie: jar, host})).toBeUndefined()
    expect(logins.check({cookie: one.replace('_5=', '_6='), host: 'localhost:6'})).toBeUndefined()
  })

  test('give a cookie that ends with who asked for it, killed or not, and goes on over a restart of the head', async () => {
    const tokens = await Tokens.open(folder)
    const logins = new Logins(tokens)
    const {code, login} = logins.issue()
    const [cookie, host] = [(await logins.trade(code, 'localhost:5')).cookie.split(';')[0]!, 'localhost:5']
    for (let minute = 0; minute < 10; minute++) {
      pass(60)
      logins.goesOn(login)
      expect(logins.check({cookie, host})).toMatchObject({kind: 'session'})
    }
    const after = new Logins(await Tokens.open(folder))
    expect(after.check({cookie, host})).toBeUndefined()
    after.goesOn(login)
    expect(after.check({cookie, host})).toMatchObject({kind: 'session'})
    pass(121)
    expect([logins.check({cookie, host}), after.check({cookie, host})]).toEqual([undefined, undefined])
    logins.goesOn(login)
    await logins.end(login)
    logins.goesOn(login)
    expect(logins.check({cookie, host})).toBeUndefined()
    expect(new Logins(await Tokens.open(folder)).check({cookie, host})).toBeUndefined()
    for (const wrong of ['', '../x', 'x'.repeat(100)]) expect(() => logins.goesOn(wrong)).toThrow('cannot be the name')
  })

  test("of a user are theirs: after a restart of the head nobody goes on in another's name", async () => {
    const tokens = await Tokens.open(folder)
    const of = async (kept: Tokens, user: string): Promise<Owner> => {
      const {token} = await kept.issueUser({user, expiresAt: Date.now() + 600_000})
      return ownerIn(kept.check(token))
    }
    const alice = await of(tokens, 'alice')
    const logins = new Logins(tokens)
    const {code, login} = logins.issue({opens: 'page', by: alice})
    const [cookie, host] = [(await logins.trade(code, 'localhost:5')).cookie.split(';')[0]!, 'localhost:5']
    expect(logins.check({cookie, host})).toMatchObject({kind: 'session', user: 'alice'})
    const opened = await Tokens.open(folder)
    const after = new Logins(opened)
    for (const other of [undefined, await of(opened, 'bob')]) {
      const again = new Logins(opened)
      again.goesOn(login, other)
      expect(again.check({cookie, host})).toBeUndefined()
    }
    after.goesOn(login, await of(opened, 'alice'))
    expect(after.check({cookie, host})).toMatchObject({user: 'alice'})
    expect(() => after.goesOn(login)).toThrow("somebody else's")
  })
})
