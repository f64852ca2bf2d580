import {expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {Spread} from '../../../src/lib/data/spread.ts'
import type {Host} from '../../../src/lib/host/index.ts'

const context = makeContext({env: {}})
const host = (node: string): Host => ({node}) as Host
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(host) as [Host, Host, Host, Host]
const settled = async <T>(promise: Promise<T>): Promise<T | 'waits'> =>
  Promise.race([promise, new Promise<'waits'>((resolve) => setTimeout(() => resolve('waits'), 20))])

test('it leaves this machine once, and each node gives it to two others at a time', async () => {
  const spread = new Spread()
  expect(await spread.want(a, context)).toBeNull()
  const waiting = [b, c, d].map((one) => spread.want(one, context))
  expect(await settled(waiting[0] as Promise<unknown>)).toBe('waits')
  spread.has(a)
  const [first, second] = await Promise.all(waiting.slice(0, 2))
  expect([first?.from.node, second?.from.node, await settled(waiting[2] as Promise<unknown>)]).toEqual([
    'a',
    'a',
    'waits',
  ])
  first?.done()
  spread.has(b)
  expect((await waiting[2])?.from.node).toMatch(/^[ab]$/)
})

test('a node that does not give it is passed over, and one that did not get it makes way', async () => {
  const spread = new Spread()
  spread.has(a)
  const from = await spread.want(b, context)
  from?.done()
  spread.isOut(a)
  expect(await spread.want(b, context)).toBeNull()
  const other = spread.want(c, context)
  expect(await settled(other)).toBe('waits')
  spread.failed(b)
  expect(await other).toBeNull()
})
