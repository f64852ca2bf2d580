import {describe, expect, it} from 'vitest'
import {CliError} from '../../../src/lib/base/index.ts'
import {forEachNode, type Fleet, type NodeShell} from '../../../src/lib/ssh/index.ts'
import {Slots} from '../../../src/lib/ssh/parallel.ts'

const fleet: Fleet = {
  shell: async (node) => {
    if (node === 'down') throw new CliError('NODE_UNREACHABLE', 'down is down')
    return {node} as NodeShell
  },
  close: async () => {},
}

describe('forEachNode', () => {
  it('gives every answer and every failure in the order asked, and runs no more at once than allowed', async () => {
    let running = 0
    let most = 0
    const {done, failed} = await forEachNode(
      fleet,
      ['a', 'down', 'b', 'c', 'd'],
      async (shell, node) => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        if (node === 'c') throw new Error('c broke')
        return `${shell.node}!`
      },
      {parallel: 2},
    )
    expect([...done]).toEqual([
      ['a', 'a!'],
      ['b', 'b!'],
      ['d', 'd!'],
    ])
    expect([...failed].map(([node, error]) => [node, error.message])).toEqual([
      ['down', 'down is down'],
      ['c', 'c broke'],
    ])
    expect(most).toBe(2)
  })
})

describe('Slots', () => {
  it('serves in order, and a slot given back twice counts once', async () => {
    const slots = new Slots(1)
    const first = await slots.take()
    const order: number[] = []
    const waiting = [1, 2].map((number) => slots.take().then((release) => (order.push(number), release)))
    first()
    first()
    const second = await (waiting[0] as Promise<() => void>)
    expect(order).toEqual([1])
    second()
    await waiting[1]
    expect(order).toEqual([1, 2])
  })
})
