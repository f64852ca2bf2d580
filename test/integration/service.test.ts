import {afterAll, beforeAll, expect, test} from 'vitest'
import {isCliError} from '../../src/lib/base/index.ts'
import {
  followServiceLog,
  openHost,
  serviceStatus,
  startService,
  stopService,
  type Host,
  type ServiceStatus,
} from '../../src/lib/host/index.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'

let rack: TestLocalRack
let host: Host

beforeAll(async () => {
  rack = await startLocalRack({nodes: 1})
  host = await openHost(rack.fleet(), rack.rack.nodes[0]!, rack.context())
})
afterAll(() => rack?.stop())

const counter = ['sh', '-c', 'n=0; while :; do n=$((n+1)); echo "tick $n"; sleep 0.05; done']

test('a service outlives the connection that started it, and its log is followed from an offset', async () => {
  const first = rack.fleet()
  const started = await startService(await openHost(first, rack.rack.nodes[0]!, rack.context()), {
    id: 'counter',
    argv: counter,
    restart: {max: 3, windowSeconds: 60},
    grace: 1,
  })
  expect(started.started).toBe(true)
  await first.close()

  const hasThreeLines = (text: string): boolean => text.split('\n').length > 3
  const begin = await read(hasThreeLines)
  const rest = await read(hasThreeLines, begin.next)
  const lines = (begin.text + rest.text).split('\n').slice(0, -1)
  expect(lines).toEqual(lines.map((_, index) => `tick ${index + 1}`)) // nothing lost, nothing twice
  expect(
    await startService(host, {id: 'counter', argv: counter, restart: {max: 3, windowSeconds: 60}, grace: 1}),
  ).toMatchObject({started: false})
})

test('another command under the same id is a conflict, unless it is to replace the old one', async () => {
  const error: unknown = await startService(host, {id: 'counter', argv: ['sleep', '60']}).catch(
    (reason: unknown) => reason,
  )
  expect(isCliError(error, 'CONFLICT')).toBe(true)
  const before = await serviceStatus(host, 'counter')
  const replaced = await startService(host, {id: 'counter', argv: ['sleep', '60'], grace: 1}, {replace: true})
  expect(replaced.started).toBe(true)
  expect(() => process.kill(before.pid!, 0)).toThrow()
})

test('a killed service comes back, and stop ends it for good', async () => {
  const {pid} = await startService(host, {
    id: 'phoenix',
    argv: ['sleep', '60'],
    restart: {max: 3, windowSeconds: 60},
    grace: 1,
  }).then(() => until('phoenix', (now) => now.pid !== null))
  process.kill(pid!, 'SIGKILL')
  const back = await until('phoenix', (now) => now.pid !== null && now.pid !== pid)
  expect(back.restarts).toBe(1)
  expect(await stopService(host, 'phoenix', 1)).toMatchObject({state: 'stopped', pid: null})
  expect(() => process.kill(back.pid!, 0)).toThrow()
  expect((await serviceStatus(host, 'nobody')).state).toBe('absent')
})

/** Follows the log from an offset until the text is there; gives the text and the offset after it. */
async function read(enough: (text: string) => boolean, from = 0): Promise<{text: string; next: number}> {
  const stop = new AbortController()
  let text = ''
  let next = from
  await followServiceLog(host, 'counter', {
    offset: from,
    follow: true,
    signal: stop.signal,
    onData: (chunk, at) => {
      expect(at).toBe(next)
      if (stop.signal.aborted) return
      text += chunk.toString()
      next = at + chunk.length
      if (enough(text)) stop.abort()
    },
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  return {text, next}
}

async function until(id: string, condition: (now: ServiceStatus) => boolean): Promise<ServiceStatus> {
  for (;;) {
    const now = await serviceStatus(host, id)
    if (condition(now)) return now
  }
}
