import {afterAll, beforeAll, expect, test} from 'vitest'
import {isCliError} from '../../../src/lib/base/index.ts'
import {switchAcross, Undecided, type Part} from '../../../src/lib/endpoint/across.ts'
import {newDocument, type EndpointDocument} from '../../../src/lib/endpoint/document.ts'
import {startRackHead, type RackHead} from '../../support/rack-heads.ts'
import {until} from '../../support/two-heads.ts'

let heads: RackHead[]

beforeAll(async () => {
  heads = await Promise.all([startRackHead('lab'), startRackHead('edge')])
})
afterAll(async () => {
  await Promise.all((heads ?? []).map((head) => head.stop()))
})

const document = (name: string, release: string): EndpointDocument => ({
  ...newDocument(name, new Date(0)),
  active: {release, targets: ['http://127.0.0.1:1']},
})

/** An endpoint of that name at both, at release r1. */
async function both(name: string): Promise<void> {
  for (const head of heads)
    await head
      .connection()
      .request('PUT', `/flexrack/v1/endpoints/${name}`, {revision: 0, document: document(name, 'r1')})
}

const partsOf = (name: string, at?: (when: string) => Promise<void>): Part[] =>
  heads.map((head) => ({
    rack: head.rack,
    head: head.connection(at),
    changes: [{record: {revision: 1}, document: document(name, 'r2')}],
  }))

interface Shown {
  document: EndpointDocument
  promised: string | null
}

/** Which release serves at each, once nothing is promised any more. */
function serving(name: string): Promise<string[]> {
  return until(async () => {
    const shown = await Promise.all(
      heads.map((head) => head.connection().request<Shown>('GET', `/flexrack/v1/endpoints/${name}`)),
    )
    return shown.some(({promised}) => promised !== null) ? undefined : shown.map((one) => one.document.active!.release)
  })
}

const FIRST = 'lab'
const STEPS = [
  `PUT /flexrack/v1/joint/ID of ${FIRST}`,
  `POST /flexrack/v1/tokens of ${FIRST}`,
  'PUT /flexrack/v1/joint/ID of edge',
  `POST /flexrack/v1/joint/ID/decision of ${FIRST}`,
  'POST /flexrack/v1/joint/ID/decision of edge',
].flatMap((step) => [`before ${step}`, `after ${step}`])
const DECIDED = STEPS.indexOf(`after POST /flexrack/v1/joint/ID/decision of ${FIRST}`)

test('both switch; and while it is not decided nobody else changes one of them', async () => {
  await both('plain')
  let refused: unknown
  const results = await switchAcross(
    partsOf('plain', async (when) => {
      if (when !== STEPS[DECIDED - 1]) return
      for (const head of heads) {
        const change = head
          .connection()
          .request('PUT', '/flexrack/v1/endpoints/plain', {revision: 1, document: document('plain', 'r3')})
        refused = await change.catch((error: unknown) => error)
        expect(isCliError(refused, 'CONFLICT')).toBe(true)
        expect((await head.call('DELETE', '/flexrack/v1/endpoints/plain')).status).toBe(409)
      }
    }),
  )
  expect((refused as Error).message).toContain('not decided')
  expect(results.map((one) => one.status === 'fulfilled' && one.value[0]?.revision)).toEqual([2, 2])
  expect(await serving('plain')).toEqual(['r2', 'r2'])
})

test('one that cannot promise keeps the other from it', async () => {
  await both('changed')
  await heads[1]!
    .connection()
    .request('PUT', '/flexrack/v1/endpoints/changed', {revision: 1, document: document('changed', 'r5')})
  await expect(switchAcross(partsOf('changed'))).rejects.toMatchObject({code: 'CONFLICT'})
  expect(await serving('changed')).toEqual(['r1', 'r5'])
})

test('who commands dies, at each step: all have switched or none, and all may be changed again', async () => {
  const names = STEPS.map((_, index) => `step-${index}`)
  await Promise.all(
    STEPS.map(async (step, index) => {
      const name = names[index]!
      await both(name)
      await new Promise<void>((dies) => {
        void switchAcross(
          partsOf(name, async (when) => {
            if (when !== step) return
            dies()
            await new Promise(() => {}) // no more is heard of it
          }),
          {lease: 1},
        )
      })
      const is = index >= DECIDED ? 'r2' : 'r1'
      expect([step, await serving(name)]).toEqual([step, [is, is]])
    }),
  )
})

test('the head that decides is away: the other serves what it served, until it can ask', async () => {
  await both('away')
  const [first] = heads
  await new Promise<void>((dies) => {
    void switchAcross(
      partsOf('away', async (when) => {
        if (when !== STEPS[DECIDED]) return
        await first!.kill()
        dies()
        await new Promise(() => {})
      }),
      {lease: 0.2},
    )
  })
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const {document: kept, promised} = await heads[1]!.connection().request<Shown>('GET', '/flexrack/v1/endpoints/away')
  expect([kept.active?.release, promised]).toEqual(['r1', expect.any(String)])
  await first!.start()
  expect(await serving('away')).toEqual(['r2', 'r2'])
})

test('a token for the verdict opens that one question, of one switch', async () => {
  const {token} = await heads[0]!.connection().request<{token: string}>('POST', '/flexrack/v1/tokens', {
    kind: 'joint',
    joint: '11111111-1111-4111-8111-111111111111',
    ttl_seconds: 60,
  })
  const ask = async (path: string, method = 'POST'): Promise<[number, string]> => {
    const base = await heads[0]!.call('GET', '/flexrack/v1/status')
    const answer = await fetch(new URL(path, base.url), {
      method,
      headers: {authorization: `Bearer ${token}`},
      ...(method === 'POST' && {body: '{}'}),
    })
    return [answer.status, await answer.text()]
  }
  // What was never promised there was never decided.
  expect(await ask('/flexrack/v1/joint/11111111-1111-4111-8111-111111111111/verdict')).toEqual([
    200,
    '{"state":"dropped"}',
  ])
  expect((await ask('/flexrack/v1/joint/22222222-2222-4222-8222-222222222222/verdict'))[0]).toBe(403)
  for (const [path, method] of [
    ['/flexrack/v1/joint/11111111-1111-4111-8111-111111111111', 'GET'],
    ['/flexrack/v1/joint/11111111-1111-4111-8111-111111111111/decision', 'POST'],
    ['/flexrack/v1/status', 'GET'],
    ['/flexrack/v1/follow', 'POST'],
  ] as const)
    expect([path, (await ask(path, method))[0]]).toEqual([path, 403])
})

const isLong = process.env.FLEXRACK_LONG !== undefined
// In the gate those where a head is the only one that knows: after its own write.
const KILLS = STEPS.flatMap((step) => [0, 1].map((victim) => ({step, victim})))
const CHOSEN = isLong ? KILLS : KILLS.filter(({step, victim}) => step === STEPS[DECIDED - 1] && victim === 1)

test(`a head is killed with -9 and comes back, at ${CHOSEN.length} steps: all have switched or none`, async () => {
  for (const [index, {step, victim}] of CHOSEN.entries()) {
    const name = `killed-${index}`
    await both(name)
    const head = heads[victim]!
    let back = Promise.resolve()
    const outcome = await switchAcross(
      partsOf(name, async (when) => {
        if (when !== step) return
        await head.kill()
        back = head.start()
      }),
      {lease: 3},
    ).then(
      // It was decided; that one could not be told yet is said of it, and it finds out.
      (results) => {
        for (const one of results) if (one.status === 'rejected') console.log(step, victim, String(one.reason?.cause))
        return 'r2'
      },
      (error: Error) => (error instanceof Undecided ? undefined : 'r1'),
    )
    await back
    const found = await serving(name)
    expect([step, victim, new Set(found).size]).toEqual([step, victim, 1])
    if (outcome !== undefined) expect([step, victim, found[0]]).toEqual([step, victim, outcome])
  }
})
