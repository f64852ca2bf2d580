import {afterEach, expect, it, vi} from 'vitest'
import {CliError, makeContext} from '../../../src/lib/base/index.ts'
import type {Host} from '../../../src/lib/host/index.ts'
import type {NodeRunDetail} from '../../../src/lib/protocol/index.ts'
import type {Place} from '../../../src/lib/runs/find.ts'
import {watchRun} from '../../../src/lib/runs/watch.ts'
import type {RunView} from '../../../src/lib/runs/view.ts'
import {FINISHED, LEADERLESS, reported} from '../../support/reported.ts'

afterEach(() => vi.useRealTimers())

/** node-1 led and is cut off, node-2 ends as told; so many seconds after that it is not over yet, and then it is. */
async function watchCut(end: Partial<NodeRunDetail>, seconds: number): Promise<RunView> {
  vi.useFakeTimers({toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance']})
  const {term, leader, status} = reported(2, end)
  const part = (node: string, parts: object) => ({
    node,
    term: 1,
    leader: 'node-1',
    status: 'running',
    attempt: 1,
    cores: null,
    memory_total: null,
    gpu_memory: {},
    ranks: {},
    hardware: null,
    ...parts,
  })
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
      if (verb === 'run.state') return reported(2, end)
      options.onEvent({event: 'watch', parts: [part('node-2', {term, leader})]})
      cut()
      options.onEvent({event: 'watch', parts: [part('node-2', {term, leader, status, attempt: 2})]})
      return {over: true}
    }) as Host['call'],
  }
  const place = {
    hosts: new Map(Object.entries(call).map(([node, one]) => [node, {node, call: one} as Host])),
  } as unknown as Place
  const context = makeContext({kill: AbortSignal.abort()}) // so that open hosts serve on, and no connection is made
  let isOver = false
  const watching = watchRun(
    place,
    {run: 'digits-1', nodes: [reported(1), reported(2)]},
    {every: 2, onView: () => {}, signal: new AbortController().signal, records: {tracking: undefined, away: 'away'}},
    context,
  ).finally(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(seconds * 1000)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(2000)
  return watching
}

it('ends once the newest leader has ended the run, though the node of an old one stays silent', async () => {
  expect(await watchCut({...FINISHED, term: 2, leader: 'node-2'}, 19)).toMatchObject({
    status: 'finished',
    attempt: 2,
    lost: ['node-1'],
  })
})

it('ends without knowing how the run ended where the others only lost their leader, which had told that it runs', async () => {
  expect(await watchCut(LEADERLESS, 59)).toMatchObject({status: 'unknown', lost: ['node-1']})
})
