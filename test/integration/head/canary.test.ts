import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import type {CanaryRules, ReleaseFigures, ShadowFigures} from '../../../src/lib/head/types.ts'
import type {HeadRollout} from '../../../src/lib/protocol/index.ts'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget as openTarget, type Answer, type Target} from '../../support/target.ts'

let server: TestServer
const closers: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  server = await openTestServer()
})
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
  await server.close()
})

async function startTarget(name: string, answer?: Answer): Promise<Target> {
  const target = await openTarget(name, answer)
  closers.push(() => target.stop().catch(() => {}))
  return target
}

const INFER = '/endpoints/digits/v2/models/digits/infer'

/** Writes what the endpoint is: r1 active, and a canary r2 where rules are given. */
async function put(old: Target, canary?: {target: Target} & Partial<CanaryRules>, name = 'digits'): Promise<void> {
  const before = await server.call('GET', `/flexrack/v1/endpoints/${name}`)
  const revision = before.ok ? ((await before.json()) as {revision: number}).revision : 0
  const {target, ...rules} = canary ?? {}
  const beside = target && {release: 'r2', since: 's', targets: [target.url], steps: [10], ...rules}
  const document = {active: {release: 'r1', targets: [old.url]}, ...(beside && {canary: beside})}
  const answer = await server.call('PUT', `/flexrack/v1/endpoints/${name}`, {body: {revision, document}})
  if (!answer.ok) throw new Error(await answer.text())
}

/** The release that answered, by its own word and by the gateway's. */
async function ask(headers: Record<string, string> = {}): Promise<string> {
  const answer = await server.call('POST', INFER, {body: {inputs: []}, headers})
  const {name} = (await answer.json()) as {name: string}
  if (answer.status !== 200) throw new Error(`status ${answer.status}`)
  expect(answer.headers.get('x-flexrack-release')).toBe(name)
  return name
}

async function askOften(count: number, headers?: Record<string, string>): Promise<Record<string, number>> {
  const seen: Record<string, number> = {}
  for (let at = 0; at < count; at += 10)
    for (const name of await Promise.all(Array.from({length: 10}, () => ask(headers))))
      seen[name] = (seen[name] ?? 0) + 1
  return seen
}

async function described(): Promise<{figures: Record<string, ReleaseFigures>; rollout: HeadRollout | null}> {
  return (await server.call('GET', '/flexrack/v1/endpoints/digits')).json() as never
}

describe('a canary', () => {
  test('gets its part of the requests, and each release is measured', async () => {
    const [old, fresh] = [await startTarget('r1'), await startTarget('r2')]
    await put(old, {target: fresh, steps: [30]})
    const seen = await askOften(300)
    // Six deviations of the binomial distribution: once in a billion runs.
    expect(Math.abs((seen.r2 ?? 0) - 90)).toBeLessThan(6 * Math.sqrt(300 * 0.3 * 0.7))
    const {figures, rollout} = await described()
    expect(rollout).toMatchObject({release: 'r2', state: 'running', percent: 30})
    expect([figures.r1?.requests, figures.r2?.requests]).toEqual([seen.r1, seen.r2])
    const metrics = await (await server.call('GET', '/flexrack/v1/metrics')).text()
    for (const line of [
      `flexrack_gateway_release_requests_total{endpoint="digits",release="r2",outcome="answered"} ${seen.r2}`,
      'flexrack_gateway_release_percent{endpoint="digits",release="r1"} 70',
      `flexrack_gateway_release_seconds_bucket{endpoint="digits",release="r1",le="+Inf"} ${seen.r1}`,
    ])
      expect(metrics).toContain(line)
    for (const one of Object.values(figures)) {
      expect(one).toMatchObject({failed: 0, refused: 0, abandoned: 0, inFlight: 0})
      expect([one.p50! <= one.p95!, one.p95! <= one.p99!, one.p50! > 0]).toEqual([true, true, true])
    }
  })

  test('is counted with what went wrong: failures, refusals, readers that went away', async () => {
    let status = 500
    const [old, fresh] = [
      await startTarget('r1'),
      await startTarget('r2', (_request, response) =>
        status === 0 ? undefined : response.writeHead(status).end('{}'),
      ),
    ]
    await put(old, {target: fresh, steps: [100]})
    const call = async (): Promise<number> => (await server.call('POST', INFER, {body: {}})).status
    expect(await call()).toBe(500)
    status = 400
    expect(await call()).toBe(400)
    status = 429
    expect(await call()).toBe(429)
    status = 0
    const leave = new AbortController()
    const left = fetch(server.url + INFER, {
      method: 'POST',
      headers: {authorization: `Bearer ${server.admin}`},
      body: '{}',
      signal: leave.signal,
    }).catch(() => undefined)
    while ((await described()).figures.r2?.inFlight !== 1) await new Promise((resolve) => setImmediate(resolve))
    leave.abort()
    await left
    while ((await described()).figures.r2?.inFlight !== 0) await new Promise((resolve) => setImmediate(resolve))
    expect((await described()).figures.r2).toMatchObject({requests: 4, failed: 2, refused: 1, abandoned: 1})
  })

  test('that takes no connections costs no request: the old release answers, and the canary has failed', async () => {
    const [old, fresh] = [await startTarget('r1'), await startTarget('r2')]
    await fresh.stop()
    await put(old, {target: fresh, steps: [100]})
    expect(await askOften(20)).toEqual({r1: 20})
    const {figures} = await described()
    expect([figures.r2, figures.r1]).toMatchObject([
      {requests: 20, failed: 20},
      {requests: 20, failed: 0},
    ])
  })

  test('split by a header keeps each user at one release, and those that it has while its part grows', async () => {
    const [old, fresh] = [await startTarget('r1'), await startTarget('r2')]
    const users = Array.from({length: 60}, (_, index) => `user-${index}`)
    const meets = async (): Promise<string[]> => Promise.all(users.map((user) => ask({'X-User': user})))
    await put(old, {target: fresh, steps: [30], header: 'x-user'})
    const first = await meets()
    expect(await meets()).toEqual(first)
    expect(new Set(first)).toEqual(new Set(['r1', 'r2']))
    await put(old, {target: fresh, steps: [70], header: 'x-user'})
    const grown = await meets()
    expect(grown.filter((name) => name === 'r2').length).toBeGreaterThan(first.filter((name) => name === 'r2').length)
    for (const [user, name] of first.entries()) if (name === 'r2') expect(grown[user]).toBe('r2')
    const seen = await askOften(100)
    expect(seen.r2, 'who has no such header is drawn').toBeGreaterThan(0)
  })

  test('that is a shadow gets copies after the answers, and what it says otherwise is counted', async () => {
    let copies = 0
    const [old, fresh] = [
      await startTarget('r1'),
      await startTarget('r1', (_request, response, body) => {
        copies++
        const say = JSON.parse(body.toString()) as {say: string}
        if (say.say === 'nothing') return void response.socket?.destroy()
        response.writeHead(say.say === 'error' ? 500 : 200, {'content-type': 'application/json'})
        response.end(JSON.stringify({name: say.say}))
      }),
    ]
    const echo: Answer = (_request, response) =>
      void response.writeHead(200, {'content-type': 'application/json'}).end('{"name":"same"}')
    const says = await startTarget('r1', echo)
    await put(says, {target: fresh, steps: [0], shadow: true})
    for (const say of ['same', 'same', 'other', 'error', 'nothing']) {
      const answer = await server.call('POST', INFER, {body: {say}})
      expect([answer.status, await answer.json(), answer.headers.get('x-flexrack-release')]).toEqual([
        200,
        {name: 'same'},
        'r1',
      ])
    }
    const shadow = async (): Promise<ShadowFigures | null> =>
      ((await (await server.call('GET', '/flexrack/v1/endpoints/digits')).json()) as {shadow: ShadowFigures | null})
        .shadow
    while ((await shadow())?.copied !== 5) await new Promise((resolve) => setImmediate(resolve))
    expect(copies).toBe(5)
    expect(await shadow()).toEqual({
      copied: 5,
      same: 2,
      different: 1,
      failed: 2,
      uncompared: 0,
      dropped: 0,
      lastDifference: 'name',
    })
    expect((await described()).figures.r2).toMatchObject({requests: 5, failed: 2})
    // Health and looks are nobody's business to copy; nor is what is too large.
    await server.call('GET', '/endpoints/digits/v2/models/digits')
    await server.call('POST', INFER, {body: `"${'x'.repeat(1024 ** 2)}"`})
    await put(old)
    expect([copies, await shadow()]).toEqual([5, null])
  })

  test('that is a shadow and hangs takes a bounded number of copies, and nothing from those who ask', async () => {
    const held: (() => void)[] = []
    const [old, fresh] = [
      await startTarget('r1'),
      await startTarget('r2', (_request, response) => void held.push(() => response.end('{}'))),
    ]
    await put(old, {target: fresh, steps: [0], shadow: true})
    expect(await askOften(100)).toEqual({r1: 100})
    const shadow = async (): Promise<{copied: number; dropped: number}> =>
      ((await (await server.call('GET', '/flexrack/v1/endpoints/digits')).json()) as {shadow: ShadowFigures}).shadow
    while (held.length < 8) await new Promise((resolve) => setImmediate(resolve))
    expect([held.length, (await shadow()).dropped]).toEqual([8, 100 - 8 - 64])
    while ((await shadow()).copied < 72) {
      for (const end of held.splice(0)) end()
      await new Promise((resolve) => setImmediate(resolve))
    }
  })

  test('a head that starts again goes on with it', async () => {
    const [old, fresh] = [await startTarget('r1'), await startTarget('r2')]
    await put(old, {target: fresh, steps: [100]})
    const again = await openTestServer(undefined, {folder: server.folder})
    try {
      const answer = await again.call('POST', INFER, {body: {}})
      expect(answer.headers.get('x-flexrack-release')).toBe('r2')
    } finally {
      await again.close()
    }
  })

  test('not one request is lost while canaries begin, grow, are promoted and taken back', async () => {
    let old = await startTarget('r1')
    await put(old)
    let stop = false
    const failures: string[] = []
    let count = 0
    const load = Promise.all(
      Array.from({length: 8}, async () => {
        while (!stop) {
          const answer = await server.call('POST', INFER, {body: {inputs: [1]}}).catch((error: Error) => error)
          if (answer instanceof Error || answer.status !== 200) failures.push(String(answer))
          else await answer.text()
          count++
        }
      }),
    )
    const more = async (): Promise<void> => {
      const goal = count + 16
      while (count < goal) await new Promise((resolve) => setImmediate(resolve))
    }
    const end = (target: Target): Promise<void> =>
      new Promise((resolve) => (target.server.close(() => resolve()), target.server.closeIdleConnections()))
    for (let round = 0; round < 4; round++) {
      const fresh = await startTarget('r2')
      for (const percent of [10, 50, 100]) {
        await put(old, {target: fresh, steps: [percent], since: `${round} ${percent}`})
        await more()
      }
      if (round % 2 === 0) {
        await put(fresh)
        await end(old)
        old = fresh
      } else {
        await put(old)
        await end(fresh)
      }
      await more()
    }
    stop = true
    await load
    expect(failures).toEqual([])
  })

  test('is refused where the gateway could not use it', async () => {
    const wrongs = [
      {steps: []},
      {steps: [101]},
      {steps: ['10']},
      {targets: ['ftp://x']},
      {header: 'X User'},
      {judge: {minimum: 0, hold: 1}},
      {judge: 7},
      {release: 7},
    ]
    for (const wrong of wrongs) {
      const canary = {release: 'r2', since: 's', targets: ['http://127.0.0.1:9'], steps: [10], ...wrong}
      const body = {revision: 0, document: {canary}}
      const answer = await server.call('PUT', '/flexrack/v1/endpoints/digits', {body})
      expect([answer.status, await answer.json()]).toMatchObject([400, {error: {code: 'USAGE'}}])
    }
  })
})
