import {expect, it} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {Wants} from '../../../src/lib/protocol/index.ts'
import {reserveGang} from '../../../src/lib/reservation/index.ts'

it('asks every node for the GPUs that were chosen there', async () => {
  const requested: unknown[] = []
  const host = (node: string): Host =>
    ({
      node,
      call: async (verb: string, input: {wants: Wants}) => {
        if (verb === 'reservation.take') requested.push([node, input.wants.gpus])
        return {granted: true, fence: 1, since: 1, identity: node, shared: true, gpus: [], holders: []}
      },
    }) as unknown as Host
  const wants = (gpus: Wants['gpus']): Wants => ({gpus, slots: 2, exclusive: false})
  const on = new Map([
    ['a', wants(['GPU-1'])],
    ['b', wants(['GPU-7'])],
  ])
  const gang = await reserveGang(
    [host('a'), host('b'), host('c')],
    {lease: 'run', project: 'p', wants: wants('all'), on},
    {},
    makeContext(),
  )
  await gang.release()
  expect(requested).toEqual([
    ['a', ['GPU-1']],
    ['b', ['GPU-7']],
    ['c', 'all'],
  ])
})
