import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest'
import {
  Queues,
  type Asked,
  type Choice,
  type Queued,
  type Turn,
} from '../../../../../src/lib/head/service/queue/queues.ts'

const RULES = {requests: 10, bytes: 1000, seconds: 15, answer: 300, concurrency: 2}

/** An endpoint whose servers have `free` places. */
class Servers {
  free = 0
  isGone = false
  waits: 'busy' | 'down' | 'cold' = 'busy'
  readonly queues: Queues
  constructor(rules = RULES) {
    this.queues = new Queues(() => rules)
  }

  ask(client: string, given: Partial<Asked> = {}): Turn | Queued {
    return this.queues.take({
      endpoint: 'digits',
      client,
      bytes: 1,
      since: performance.now(),
      deadline: undefined,
      lane: () => 'r1',
      choose: (): Choice => {
        if (this.isGone) throw new Error('no active release')
        return this.free > 0 ? {target: 't', release: 'r1'} : {waits: this.waits}
      },
      begin: () => this.free--,
      ...given,
    })
  }

  /** Takes the turn of one that waits. */
  async begun(place: Turn | Queued): Promise<() => void> {
    const turn = 'turn' in place ? await place.turn : place
    if (!turn) throw new Error('it was left')
    return turn.end
  }
}

/** Who was served, in order, by a server that does one after the other. */
async function served(servers: Servers, clients: string[]): Promise<string> {
  const order: string[] = []
  const all = clients.map(async (client) => {
    const end = await servers.begun(servers.ask(client))
    order.push(client)
    servers.free++
    end()
  })
  servers.free = 1
  servers.queues.wake()
  await Promise.all(all)
  return order.join('')
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a queue', () => {
  test('lets a request go at once where a target is free and nobody waits', () => {
    const servers = new Servers()
    servers.free = 1
    const turn = servers.ask('a') as Turn
    expect(turn).toMatchObject({target: 't', release: 'r1'})
    expect(servers.queues.demand('digits')).toEqual({inFlight: 1, queued: 0})
    turn.end()
    turn.end()
    expect(servers.queues.demand('digits')).toEqual({inFlight: 0, queued: 0})
  })

  test('keeps the order of one client, and lets clients take turns however many one has sent', async () => {
    expect(await served(new Servers(), [...'aaaaaabc'])).toBe('abcaaaaa')
    expect(await served(new Servers(), [...'aaabbbcc'])).toBe('abcabcab')
  })

  test('gives who has less under way the next place, also where the other began first', async () => {
    const servers = new Servers()
    servers.free = 2
    const [first] = [servers.ask('heavy'), servers.ask('heavy')] as Turn[]
    const [more, light] = [servers.ask('heavy'), servers.ask('light')] as Queued[]
    servers.free = 1
    first!.end()
    await servers.begun(light!)
    expect(servers.queues.demand('digits')).toEqual({inFlight: 2, queued: 1})
    more!.leave()
  })

  test('wakes who waits for a server that is started, and says once that somebody waits', async () => {
    const servers = new Servers()
    servers.waits = 'cold'
    const told: string[] = []
    servers.queues.whenWaiting((endpoint) => told.push(endpoint))
    const place = servers.ask('a', {
      choose: () => (servers.free ? {target: 't', release: 'r1'} : {waits: 'cold', seconds: 70}),
    })
    expect(told).toEqual(['digits'])
    expect(servers.queues.demand('digits')).toEqual({inFlight: 0, queued: 1})
    await vi.advanceTimersByTimeAsync(60_000)
    servers.free = 1
    servers.queues.changed('digits')
    await servers.begun(place)
    expect(servers.queues.demand('digits')).toEqual({inFlight: 1, queued: 0})
  })

  test.each([
    ['busy', 504, 'were busy for 15 s'],
    ['down', 503, 'takes connections'],
    ['cold', 503, 'was started in 15 s'],
  ] as const)('ends by age: %s', async (waits, status, message) => {
    const servers = new Servers()
    servers.waits = waits
    const place = servers.ask('a') as Queued
    const failed = expect(place.turn).rejects.toMatchObject({status, message: expect.stringContaining(message)})
    await vi.advanceTimersByTimeAsync(14_999)
    expect(servers.queues.demand('digits').queued).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    await failed
    expect(servers.queues.demand('digits').queued).toBe(0)
  })

  test('ends by the deadline of its caller, and is never sent after it', async () => {
    const servers = new Servers()
    const place = servers.ask('a', {deadline: performance.now() + 100}) as Queued
    const failed = expect(place.turn).rejects.toMatchObject({status: 504, message: expect.stringContaining('deadline')})
    await vi.advanceTimersByTimeAsync(100)
    await failed
    servers.free = 1
    expect(() => servers.ask('a', {deadline: performance.now()})).toThrow('deadline')
  })

  test('forgets who has left', async () => {
    const servers = new Servers()
    const place = servers.ask('a') as Queued
    place.leave()
    place.leave()
    expect(await place.turn).toBeUndefined()
    expect(servers.queues.demand('digits')).toEqual({inFlight: 0, queued: 0})
    expect(vi.getTimerCount()).toBe(0)
  })

  test('full by count it refuses who has the most waiting, and lets others in', async () => {
    const servers = new Servers()
    const flood = Array.from({length: 10}, () => servers.ask('flood') as Queued)
    expect(() => servers.ask('flood')).toThrow(expect.objectContaining({status: 429, more: {retry_after: 1}}))
    const last = expect(flood[9]!.turn).rejects.toMatchObject({status: 429})
    const other = servers.ask('other') as Queued
    await last
    expect(servers.queues.demand('digits').queued).toBe(10)
    for (const place of [...flood, other]) place.leave()
  })

  test('full by bytes it refuses, too; and one that is larger than the queue alone', () => {
    const servers = new Servers()
    const place = servers.ask('a', {bytes: 600}) as Queued
    expect(() => servers.ask('b', {bytes: 600})).toThrow(expect.objectContaining({status: 429}))
    expect(() => servers.ask('b', {bytes: 1001})).toThrow(expect.objectContaining({status: 429}))
    place.leave()
  })

  test('where nothing can come any more, those who wait are told', async () => {
    const servers = new Servers()
    const places = ['a', 'b'].map((client) => servers.ask(client) as Queued)
    const failed = Promise.all(places.map((place) => expect(place.turn).rejects.toThrow('no active release')))
    servers.isGone = true
    servers.queues.changed('digits')
    await failed
    expect(() => servers.ask('a')).toThrow('no active release')
  })

  test('a release whose servers are busy does not hold those up that wait for another', async () => {
    const servers = new Servers()
    let isFree = false
    const slow = servers.ask('a', {lane: () => 'canary'}) as Queued
    const choose = (): Choice => (isFree ? {target: 't', release: 'r1'} : {waits: 'busy'})
    const quick = servers.ask('a', {choose}) as Queued
    isFree = true
    servers.queues.wake('digits')
    await servers.begun(quick)
    const [first, ...others] = Array.from({length: 9}, () => servers.ask('a', {lane: () => 'canary'}) as Queued)
    expect(servers.ask('a', {choose}), 'at once, also where the queue is full of them').toHaveProperty('target')
    for (const place of [slow, first!, ...others]) place.leave()
  })
})
