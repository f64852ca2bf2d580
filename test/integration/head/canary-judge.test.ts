import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {Judge} from '../../../src/lib/head/service/releases/judge.ts'
import type {CanaryRules} from '../../../src/lib/head/types.ts'
import type {HeadRollout} from '../../../src/lib/protocol/index.ts'
import {startHeadProcess, type HeadProcess} from '../../support/head-process.ts'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startTarget as openTarget, type Answer, type Target} from '../../support/target.ts'

const INFER = '/endpoints/digits/v2/models/digits/infer'
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function startTarget(name: string, answer?: Answer): Promise<Target> {
  const target = await openTarget(name, answer)
  closers.push(() => target.stop().catch(() => {}))
  return target
}

/** r1 active, and r2 beside it with a judge. */
function documentOf(old: Target, fresh: Target, rules: Partial<CanaryRules>): object {
  const canary = {release: 'r2', since: 's', targets: [fresh.url], steps: [20, 50, 100], ...rules}
  return {active: {release: 'r1', targets: [old.url]}, canary}
}

describe('the judge', () => {
  let server: TestServer
  let judge: Judge
  let now = 0

  beforeEach(async () => {
    server = await openTestServer()
    closers.push(() => server.close())
    now = Date.now() + 10_000 // the step begins when its document is written
    judge = new Judge(server.parts, () => now)
  })

  async function begin(answer?: Answer, minimum = 30, hold = 0): Promise<void> {
    const [old, fresh] = [await startTarget('r1'), await startTarget('r2', answer)]
    const document = documentOf(old, fresh, {judge: {minimum, hold}})
    const put = await server.call('PUT', '/flexrack/v1/endpoints/digits', {body: {revision: 0, document}})
    expect(put.status).toBe(200)
  }

  async function rollout(): Promise<HeadRollout> {
    const answer = await server.call('GET', '/flexrack/v1/endpoints/digits')
    return ((await answer.json()) as {rollout: HeadRollout}).rollout
  }

  /** Requests, ten at a time, with a look after each ten, until the judge has decided; how many it took. */
  async function until(decided: (rollout: HeadRollout) => boolean): Promise<number> {
    for (let count = 10; count <= 1500; count += 10) {
      await Promise.all(
        Array.from({length: 10}, async () => (await server.call('POST', INFER, {body: {}})).arrayBuffer()),
      )
      await judge.look()
      if (decided(await rollout())) return count
    }
    throw new Error(`undecided: ${JSON.stringify(await rollout())}`)
  }

  test('goes on step by step with a release that is as good, and passes it', async () => {
    await begin()
    const seen: number[] = []
    await until(({state, percent}) => (seen.push(percent), state !== 'running'))
    expect([...new Set(seen)]).toEqual([20, 50, 100])
    expect(await rollout()).toMatchObject({state: 'passed', percent: 100, verdict: expect.stringContaining('no worse')})
    expect((await server.call('POST', INFER, {body: {}})).headers.get('x-flexrack-release')).toBe('r2')
  })

  test('waits for its minimum of requests, and for its time', async () => {
    await begin(undefined, 20, 60)
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({length: 10}, async () => server.call('POST', INFER, {body: {}})))
      await judge.look()
    }
    expect(await rollout()).toMatchObject({state: 'running', step: 0, percent: 20})
    now += 61_000
    await judge.look()
    expect(await rollout()).toMatchObject({state: 'running', step: 1, percent: 50})
    now += 61_000
    await judge.look()
    expect((await rollout()).step, 'a new step counts anew').toBe(1)
  })

  test.each<[what: string, answer: Answer, sentence: RegExp]>([
    ['fails', (_request, response) => response.writeHead(500).end('{}'), /requests failed, against 0 of/],
    ['refuses what the old one takes', (_request, response) => response.writeHead(422).end('{}'), /were refused/],
    ['breaks its connections', (request) => request.socket.destroy(), /requests failed/],
    [
      'is slow',
      (_request, response) => void setTimeout(() => response.end('{}'), 250),
      /took more than \d+ ms, where \d+ % of r1 stay within/,
    ],
  ])('takes all requests from a release that %s, and they stay with the old one', async (_what, answer, sentence) => {
    await begin(answer)
    expect(await until(({state}) => state === 'returned')).toBeLessThan(400)
    expect(await rollout()).toMatchObject({percent: 0, verdict: expect.stringMatching(sentence)})
    for (let count = 0; count < 20; count++)
      expect((await server.call('POST', INFER, {body: {}})).headers.get('x-flexrack-release')).toBe('r1')
  })
})

describe('a head', () => {
  /** Requests of eight clients, until told to stop. */
  function load(head: HeadProcess): {statuses: number[]; stop(): Promise<void>} {
    let stopped = false
    const statuses: number[] = []
    const work = async (): Promise<void> => {
      while (!stopped) {
        const answer = await head.call('POST', INFER, {})
        statuses.push(answer.status)
        await answer.arrayBuffer()
      }
    }
    const running = Array.from({length: 8}, work)
    return {statuses, stop: async () => ((stopped = true), void (await Promise.all(running)))}
  }

  test('returns by itself from a release that hangs, and knows so when it has started again', async () => {
    const held = new Set<() => void>()
    const hangs: Answer = (_request, response) => void held.add(() => response.end('{}'))
    const [old, fresh] = [await startTarget('r1'), await startTarget('r2', hangs)]
    const folder = await mkdtemp(join(tmpdir(), 'flexrack-judge-'))
    closers.push(() => rm(folder, {recursive: true, force: true}))
    let head = await startHeadProcess({folder})
    closers.push(() => head.stop())
    const document = documentOf(old, fresh, {steps: [30, 100], judge: {minimum: 100, hold: 600}})
    await head.call('PUT', '/flexrack/v1/endpoints/digits', {revision: 0, document})
    const traffic = load(head)
    const state = async (): Promise<string> =>
      ((await (await head.call('GET', '/flexrack/v1/endpoints/digits')).json()) as {rollout: HeadRollout}).rollout.state
    // What hangs has no answer: the judge counts what is under way for longer than any answer of the old release took.
    while ((await state()) !== 'returned') await new Promise((resolve) => setTimeout(resolve, 50))
    for (const end of held) end()
    await traffic.stop()
    expect(new Set(traffic.statuses)).toEqual(new Set([200]))
    await head.stop()
    head = await startHeadProcess({folder})
    expect(await state()).toBe('returned')
    expect((await head.call('POST', INFER, {})).headers.get('x-flexrack-release')).toBe('r1')
  })
})
