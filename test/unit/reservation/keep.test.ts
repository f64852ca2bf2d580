import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import type {Host} from '../../../src/lib/host/index.ts'
import {Keeper, TTL_SECONDS} from '../../../src/lib/reservation/keep.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Notes what it is asked, and answers when `answer` says so. */
function host(node: string, asked: string[], answer: Promise<unknown> = Promise.resolve()): Host {
  return {node, call: async (verb: string) => {
    asked.push(`${node} ${verb.replace('reservation.', '')}`)
    return answer
  }} as unknown as Host
}

test('renews often enough for one renewal to be lost, and not a node that has not answered the last', async () => {
  const asked: string[] = []
  let answer: (value?: unknown) => void = () => {}
  const keeper = new Keeper('run')
  keeper.add(host('quick', asked), 1)
  keeper.add(host('slow', asked, new Promise((resolve) => (answer = resolve))), 2)
  await vi.advanceTimersByTimeAsync(TTL_SECONDS * 1000 - 1)
  expect(asked).toEqual(['quick renew', 'slow renew', 'quick renew'])
  answer()
  await vi.advanceTimersByTimeAsync(1)
  expect(asked.slice(3)).toEqual(['quick renew', 'slow renew'])
  keeper.close()
})

test('does not renew what a supervisor has, and gives it back all the same where the start fails', async () => {
  const asked: string[] = []
  const hosts = ['a', 'b'].map((node) => host(node, asked))
  const keeper = new Keeper('run')
  for (const one of hosts) keeper.add(one, 1)
  keeper.handOver('a')
  await vi.advanceTimersByTimeAsync(TTL_SECONDS * 500)
  expect(asked).toEqual(['b renew'])
  await keeper.release(hosts)
  expect(asked.slice(1)).toEqual(['a release', 'b release'])
})
