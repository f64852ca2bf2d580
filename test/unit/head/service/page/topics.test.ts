import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import {Failure} from '../../../../../src/lib/head/service/failure.ts'
import {Topics} from '../../../../../src/lib/head/service/page/topics.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a page that does not go on looking costs one look, for all who ask within its time', async () => {
  const topics = new Topics()
  const look = vi.fn(() => Promise.resolve(look.mock.calls.length))
  const need = (): Promise<number> => topics.open('why', 10_000, look).need()
  expect(await Promise.all([need(), need()])).toEqual([1, 1])
  await vi.advanceTimersByTimeAsync(9000)
  expect(await need()).toBe(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(look).toHaveBeenCalledTimes(1)
  expect(await need()).toBe(2)
})

test('what is not there is not looked for again until somebody asks', async () => {
  const topics = new Topics()
  const look = vi.fn(() => Promise.reject<number>(new Failure(502, 'NOT_FOUND', 'there is no run x')))
  const need = (): Promise<number> => topics.open('why', 10_000, look).need()
  await expect(need()).rejects.toMatchObject({status: 404, message: 'there is no run x'})
  await vi.advanceTimersByTimeAsync(60_000)
  expect(look).toHaveBeenCalledTimes(1)
  await expect(need()).rejects.toThrow('there is no run x')
  expect(look).toHaveBeenCalledTimes(2)
})

test('a page that was loaded has what it shows looked at until its stream may be there', async () => {
  const look = vi.fn(() => Promise.resolve(1))
  expect(await new Topics().open('rack', 5000, look).fresh()).toMatchObject({value: 1})
  await vi.advanceTimersByTimeAsync(60_000)
  expect(look).toHaveBeenCalledTimes(3)
})

test('once something was changed, a page shows what was seen after it, though somebody looked just before', async () => {
  const topics = new Topics()
  let state = 'running'
  const slow = vi.fn(async () => {
    const seen = state
    await new Promise((resolve) => setTimeout(resolve, 300))
    return seen
  })
  const open = (): Promise<{value: string | undefined}> => topics.open('notebooks', 5000, slow).fresh()
  const first = open()
  await vi.advanceTimersByTimeAsync(200)
  // The look that goes on began before it, and does not count.
  state = 'ended'
  topics.renew()
  const after = open()
  await vi.advanceTimersByTimeAsync(500)
  expect([(await first).value, (await after).value]).toEqual(['ended', 'ended'])
  state = 'gone'
  topics.renew()
  const last = open()
  await vi.advanceTimersByTimeAsync(300)
  expect((await last).value).toBe('gone')
  expect(slow).toHaveBeenCalledTimes(3)
})
