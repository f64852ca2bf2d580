import {spawn} from 'node:child_process'
import {connect} from 'node:net'
import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import {LOST, Pulse, takesConnections} from '../../../../../src/lib/head/service/queue/pulse.ts'

const TARGET = 'https://10.0.0.2:9000'

let isThere: boolean
let looks: number
let lost: string[]
let pulse: Pulse

beforeEach(() => {
  vi.useFakeTimers({toFake: ['setInterval', 'clearInterval', 'performance']})
  ;[isThere, looks, lost] = [true, 0, []]
  pulse = new Pulse(
    (target) => lost.push(target),
    () => (looks++, Promise.resolve(isThere)),
  )
})
afterEach(() => void vi.useRealTimers())

const seconds = (count: number): Promise<unknown> => vi.advanceTimersByTimeAsync(count * 1000)

test('a server that takes long on a machine that is there is left alone, however long that is', async () => {
  const failed = vi.fn()
  pulse.enter(TARGET, failed)
  await seconds(120)
  expect(looks).toBeGreaterThan(20)
  expect([failed.mock.calls, lost]).toEqual([[], []])
})

test('one look that fails is no loss; two in a row are, for who has waited since before the first', async () => {
  const [failed, late] = [vi.fn(), vi.fn()]
  pulse.enter(TARGET, failed)
  isThere = false
  await seconds(2)
  isThere = true
  await seconds(4)
  expect(failed).not.toHaveBeenCalled()
  isThere = false
  await seconds(2)
  pulse.enter(TARGET, late)
  await seconds(6)
  expect(lost[0]).toBe(TARGET)
  expect(failed.mock.calls[0]).toMatchObject([{code: LOST}])
})

test('nobody is looked at who answers, or of whom nobody waits for anything', async () => {
  const leave = pulse.enter(TARGET, vi.fn())
  for (let second = 0; second < 20; second++) {
    await seconds(1)
    pulse.heard(TARGET)
  }
  leave()
  leave()
  isThere = false
  await seconds(60)
  expect([looks, lost]).toEqual([0, []])
  expect(vi.getTimerCount()).toBe(0)
})

test('a port that nobody listens on says that its machine is there', async () => {
  vi.useRealTimers()
  expect(await takesConnections('http://0.0.0.0:1')).toBe(true) // no loopback address, and this machine's
})

test('a server here that computes and takes no connections meanwhile is not taken for a lost machine', async () => {
  vi.useRealTimers()
  const busy = `import socket, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(0); print(s.getsockname()[1], flush=True); time.sleep(60)`
  const server = spawn('python3', ['-c', busy], {stdio: ['ignore', 'pipe', 'inherit']})
  const port = Number(await new Promise((resolve) => server.stdout.once('data', resolve)))
  const waiting = connect(port, '127.0.0.1')
  await new Promise((resolve) => waiting.once('connect', resolve))
  expect(await takesConnections(`http://127.0.0.1:${port}`)).toBe(true)
  waiting.destroy()
  server.kill()
})
