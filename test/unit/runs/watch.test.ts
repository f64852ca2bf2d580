import {afterEach, expect, it, vi} from 'vitest'
import {CliError, makeContext} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {Place} from '../../../src/lib/runs/find.ts'
import {watchRun} from '../../../src/lib/runs/watch.ts'
import {FINISHED, told} from '../../support/told.ts'

afterEach(() => vi.useRealTimers())

it('ends once the newest leader has ended the run, though the node of an old one stays silent', async () => {
  vi.useFakeTimers({toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance']})
  const second = {epoch: 2, leader: 'node-2'}
  const part = (node: string, parts: object) => ({node, epoch: 1, leader: 'node-1', status: 'running', attempt: 1, cores: null, memory_total: null, gpu_memory: {}, ranks: {}, hardware: null, ...parts})
  let isCut = false
  let cut = (): void => {}
  const call: Record<string, Host['call']> = {
    'node-1': (async (_verb: string, _input: unknown, options: {onEvent: (event: object) => void}) => {
      if (!isCut) options.onEvent({event: 'watch', parts: [part('node-1', {})]})
      if (!isCut) await new Promise<void>((resolve) => (cut = resolve))
      isCut = true
      throw new CliError('NODE_UNREACHABLE', 'it was switched off')
    }) as Host['call'],
    'node-2': (async (verb: string, _input: unknown, options: {onEvent: (event: object) => void}) => {
      if (verb === 'run.state') return told(2, {...FINISHED, ...second})
      options.onEvent({event: 'watch', parts: [part('node-2', second)]})
      cut()
      options.onEvent({event: 'watch', parts: [part('node-2', {...second, status: 'finished', attempt: 2})]})
      return {over: true}
    }) as Host['call'],
  }
  const place = {hosts: new Map(Object.entries(call).map(([node, one]) => [node, {node, call: one} as Host]))} as unknown as Place
  const context = makeContext({kill: AbortSignal.abort()}) // so that open hosts serve on, and no connection is made
  let isOver = false
  const watching = watchRun(place, {run: 'digits-1', nodes: [told(1), told(2)]}, {every: 2, onView: () => {}, signal: new AbortController().signal, records: {tracking: undefined, away: 'away'}}, context)
    .finally(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(19_000)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(2000)
  expect(await watching).toMatchObject({status: 'finished', attempt: 2, lost: ['node-1']})
})
