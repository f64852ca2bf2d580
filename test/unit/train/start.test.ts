import {expect, test} from 'vitest'
import {CliError} from '../../../src/lib/base/index.ts'
import type {ErrorCode} from '../../../src/lib/base/index.ts'
import type {Done, StartInput, TrainEnv} from '../../../src/lib/train/steps/types.ts'
import {start} from '../../../src/lib/train/steps/start.ts'

const INPUT = {
  ranks: [0],
  reservation: {$output: ['reserve']},
  spec: {node: 'node-2', index: 1, nodes: ['node-1', 'node-2'], run: 'digits-1'},
} as unknown as StartInput

/**
 * A node whose answers are lost, one after another, with these errors; then it says that the run is there. `leader`:
 * what the other one says of the run, one after another.
 */
function lossy(
  errors: ErrorCode[],
  stop = new AbortController(),
  leader: object[] = [{attempt: 0, result: {status: 'failed'}}],
) {
  const seen = {starts: 0, connections: 0, handedOver: [] as string[]}
  let asked = 0
  const host = async (name: string) => {
    if (name === 'node-1') return {node: name, call: async () => ({node: name, index: 0, ...leader[asked++]})}
    seen.connections++
    return {
      node: 'node-2',
      call: async (_verb: string, order: {run: string}) => {
        const code = errors[seen.starts++]
        if (code) throw new CliError(code, 'the connection to node-2 was lost')
        return {run: order.run, gang: {port: 7}}
      },
    }
  }
  const env = {
    host,
    variables: {},
    secret: 's',
    user: 'u',
    context: {signal: stop.signal, kill: new AbortController().signal, reporter: {warn: () => {}}},
  } as unknown as TrainEnv
  const done = {
    at: () => undefined,
    of: () => ({reservation: {ensure: async () => {}, handOver: (node: string) => seen.handedOver.push(node)}}),
  } as unknown as Done
  return {env, done, seen}
}

// The node had started it: without asking again, a short run was finished, and `train` said that it was lost.
test('where the answer to a start is lost, the node is asked again on a new connection', async () => {
  const {env, done, seen} = lossy(['NODE_UNREACHABLE'])
  expect(await start(INPUT, done, env)).toMatchObject({run: {run: 'digits-1'}, port: 7})
  expect(seen).toEqual({starts: 2, connections: 2, handedOver: ['node-2']})
})

// Seed 771111 of the random kills: the run was finished, and `train` said that there is no connection to its spare.
test('where the link stays away and the leader says that the run has begun, it is started', async () => {
  const {env, done, seen} = lossy(['NODE_UNREACHABLE', 'TIMED_OUT', 'NODE_UNREACHABLE'], new AbortController(), [
    {attempt: 0, result: null},
    {attempt: 1, status: 'finished', committed: true, ended: 7, result: {status: 'finished'}},
  ])
  expect(await start(INPUT, done, env)).toMatchObject({
    unheard: true,
    run: {node: 'node-2', index: 1, live: true, committed: false, ended: null},
  })
  expect(seen).toEqual({starts: 3, connections: 3, handedOver: ['node-2']})
})

test('a node that was never told is not asked about', async () => {
  const {env, done, seen} = lossy([], new AbortController(), [{attempt: 1, result: null}])
  const host = async (name: string) => {
    if (name === 'node-2') throw new CliError('NODE_UNREACHABLE', 'no connection to node-2')
    return env.host(name)
  }
  await expect(start(INPUT, done, {...env, host})).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
  expect(seen.handedOver).toEqual([])
})

test('a link that stays away ends the start, where the run has not begun', async () => {
  const {env, done, seen} = lossy(['NODE_UNREACHABLE', 'TIMED_OUT', 'NODE_UNREACHABLE'])
  await expect(start(INPUT, done, env)).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
  expect(seen).toEqual({starts: 3, connections: 3, handedOver: []})
})

test.each<ErrorCode>(['RESERVATION_LOST', 'NODE_UNFIT'])(
  'what the node refuses is not asked again: %s',
  async (code) => {
    const {env, done, seen} = lossy([code])
    await expect(start(INPUT, done, env)).rejects.toMatchObject({code})
    expect(seen.starts).toBe(1)
  },
)

test('after Ctrl-C it is not asked again', async () => {
  const stop = new AbortController()
  const {env, done, seen} = lossy(['NODE_UNREACHABLE'], stop)
  stop.abort()
  await expect(start(INPUT, done, env)).rejects.toMatchObject({code: 'NODE_UNREACHABLE'})
  expect(seen.starts).toBe(1)
})
