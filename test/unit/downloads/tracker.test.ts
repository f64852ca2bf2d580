import {expect, test} from 'vitest'
import {Tracker} from '../../../src/lib/downloads/tracker.ts'

const HASH = '0'.repeat(64)
const at = (port: number) => ({address: '127.0.0.1', port, secret: 's'})

/** A tracker with this many nodes that others reach. */
function nodes(count: number) {
  const tracker = new Tracker()
  return {tracker, peers: Array.from({length: count}, (_, index) => Object.assign(tracker.join(), {at: at(index + 1)}))}
}

test('one gets a file from the index, the others wait and get it from that one', async () => {
  const {tracker, peers: [a, b, c] = []} = nodes(3)
  expect(await tracker.want(a!, HASH, [])).toBeNull()
  const waiting = [tracker.want(b!, HASH, []), tracker.want(c!, HASH, [])]
  tracker.have(a!, HASH)
  expect(await Promise.all(waiting)).toEqual([a, a])
  // Who has not got it from there asks again, and gets it from the index.
  expect(await tracker.want(b!, HASH, [a!.id])).toBeNull()
})

test('nobody waits for one that is lost, that failed, or that others do not reach', async () => {
  const {tracker, peers: [a, b, c] = []} = nodes(3)
  await tracker.want(a!, HASH, [])
  const waiting = tracker.want(b!, HASH, [])
  tracker.lose(a!)
  expect(await waiting).toBeNull()
  const next = tracker.want(c!, HASH, [])
  tracker.failed(b!, HASH)
  expect(await next).toBeNull()
  tracker.have(a!, HASH) // too late
  const apart = tracker.join()
  const other = '1'.repeat(64)
  expect(await tracker.want(apart, other, [])).toBeNull()
  expect(await tracker.want(b!, other, [])).toBeNull()
})

test('who needs nothing more stays until nobody does, and no longer than it is there', async () => {
  const {tracker, peers: [a, b, c] = []} = nodes(3)
  const order: string[] = []
  const [first, second] = [tracker.leave(a!).then(() => order.push('a')), tracker.leave(b!).then(() => order.push('b'))]
  tracker.lose(b!)
  await second
  expect(order).toEqual(['b'])
  await tracker.leave(c!)
  await first
  expect(order).toEqual(['b', 'a'])
})
