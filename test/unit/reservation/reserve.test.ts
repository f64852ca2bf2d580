import {afterEach, expect, it, vi} from 'vitest'
import {CliError, makeContext} from '../../../src/lib/base/index.ts'
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

afterEach(() => vi.useRealTimers())

it('goes on renewing over a new connection, and before the start of what was overdue', async () => {
  vi.useFakeTimers()
  const seen: string[] = []
  let isCut = false
  const host = (name: string): Host =>
    ({
      node: 'a',
      call: async (verb: string) => {
        seen.push(`${name} ${verb.replace('reservation.', '')}`)
        if (isCut && verb === 'reservation.renew' && name === 'old')
          throw new CliError('NODE_UNREACHABLE', 'the connection was lost')
        return {granted: true, fence: 1, since: 1, identity: 'a', shared: true, gpus: [], holders: []}
      },
    }) as unknown as Host
  let reach = async (): Promise<Host> => Promise.reject(new CliError('NODE_UNREACHABLE', 'still away'))
  const wants: Wants = {gpus: [], slots: 1, exclusive: true}
  const gang = await reserveGang(
    [host('old')],
    {lease: 'run', project: 'p', wants},
    {reach: () => reach()},
    makeContext(),
  )
  isCut = true
  await vi.advanceTimersByTimeAsync(31_000)
  await gang.ensure('a').catch((error: CliError) => expect(error.message).toBe('still away'))
  reach = async () => host('new')
  seen.length = 0
  await gang.ensure('a')
  await gang.ensure('a')
  expect(seen).toEqual(['old renew', 'new renew'])
  seen.length = 0
  await vi.advanceTimersByTimeAsync(10_000)
  expect(seen).toEqual(['new renew'])
  await gang.release()
})
