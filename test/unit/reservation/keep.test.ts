import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import type {Host} from '../../../src/lib/host/index.ts'
import {Keeper, TTL_SECONDS} from '../../../src/lib/reservation/keep.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Notes what it is asked, and answers when `answer` says so. */
function host(node: string, requested: string[], answer: Promise<unknown> = Promise.resolve()): Host {
  return {
    node,
    call: async (verb: string) => {
      requested.push(`${node} ${verb.replace('reservation.', '')}`)
      return answer
    },
  } as unknown as Host
}

test('renews often enough for one renewal to be lost, and not a node that has not answered the last', async () => {
  const requested: string[] = []
  let answer: (value?: unknown) => void = () => {}
  const keeper = new Keeper('run')
  keeper.add(host('quick', requested), 1)
  keeper.add(host('slow', requested, new Promise((resolve) => (answer = resolve))), 2)
  await vi.advanceTimersByTimeAsync(TTL_SECONDS * 1000 - 1)
  expect(requested).toEqual(['quick renew', 'slow renew', 'quick renew'])
  answer()
  await vi.advanceTimersByTimeAsync(1)
  expect(requested.slice(3)).toEqual(['quick renew', 'slow renew'])
  keeper.close()
})

test('does not renew what a supervisor has, and gives it back all the same where the start fails', async () => {
  const requested: string[] = []
  const hosts = ['a', 'b'].map((node) => host(node, requested))
  const keeper = new Keeper('run')
  for (const one of hosts) keeper.add(one, 1)
  keeper.handOver('a')
  await vi.advanceTimersByTimeAsync(TTL_SECONDS * 500)
  expect(requested).toEqual(['b renew'])
  await keeper.release(hosts)
  expect(requested.slice(1)).toEqual(['a release', 'b release'])
})
