import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import {QueueFigures} from '../../../../../src/lib/head/service/queue/figures.ts'
import {Outliers} from '../../../../../src/lib/head/service/queue/outliers.ts'

const ALL = ['a', 'b', 'c', 'd']
let told = 0
let outliers: Outliers

beforeEach(() => {
  vi.useFakeTimers()
  told = 0
  outliers = new Outliers(() => told++)
})
afterEach(() => void vi.useRealTimers())

function fail(target: string, times: number, among = ALL): boolean {
  let out = false
  for (let count = 0; count < times; count++) {
    outliers.begin(target)
    out = outliers.failed(target, among)
    outliers.left(target)
  }
  return out
}

test('five failures in a row take a server out; one that succeeds in between begins anew', () => {
  expect(fail('a', 4)).toBe(false)
  outliers.succeeded('a')
  expect(fail('a', 4)).toBe(false)
  expect(outliers.isOut('a')).toBe(false)
  expect(fail('a', 1)).toBe(true)
  expect([outliers.isOut('a'), outliers.isOut('b'), outliers.ejections]).toEqual([true, false, 1])
})

test('deadlines that pass take out a server that answers nobody while others answer', () => {
  const late = (since: number): boolean[] => Array.from({length: 5}, () => outliers.late('a', since, ALL))
  const begun = performance.now()
  vi.advanceTimersByTime(500)
  outliers.succeeded('a')
  vi.advanceTimersByTime(501)
  expect(late(begun), 'it has answered').not.toContain(true)
  expect(late(performance.now() - 400), 'nobody has: too much was asked').not.toContain(true)
  outliers.succeeded('b')
  expect(late(performance.now() - 400)).toEqual([false, false, false, false, true])
})

test('it comes back by one request, and is out for longer each time that this fails', () => {
  fail('a', 5)
  for (const seconds of [5, 10, 15, 20]) {
    vi.advanceTimersByTime(seconds * 1000 - 1)
    expect(outliers.isOut('a')).toBe(true)
    told = 0
    vi.advanceTimersByTime(2)
    expect([told, outliers.isOut('a')]).toEqual([1, false])
    outliers.begin('a')
    expect(outliers.isOut('a'), 'one is on its way').toBe(true)
    outliers.failed('a', ALL)
  }
  vi.advanceTimersByTime(25_001)
  outliers.begin('a')
  outliers.succeeded('a')
  expect(outliers.isOut('a')).toBe(false)
  expect(fail('a', 5), 'soon after: longer still').toBe(true)
  vi.advanceTimersByTime(29_000)
  expect(outliers.isOut('a')).toBe(true)
})

test('well for a minute, it begins with the shortest again', () => {
  fail('a', 5)
  vi.advanceTimersByTime(5001)
  outliers.begin('a')
  outliers.succeeded('a')
  vi.advanceTimersByTime(60_001)
  fail('a', 5)
  vi.advanceTimersByTime(5001)
  expect(outliers.isOut('a')).toBe(false)
})

test('never more than half are out, and one that is alone never', () => {
  expect(fail('alone', 50, ['alone'])).toBe(false)
  for (const target of ALL) fail(target, 5)
  expect(ALL.filter((target) => outliers.isOut(target))).toEqual(['a', 'b'])
  fail('x', 5, ['x', 'y', 'z'])
  fail('y', 5, ['x', 'y', 'z'])
  expect(['x', 'y', 'z'].filter((target) => outliers.isOut(target))).toEqual(['x'])
})

test('who probes and goes away lets another one probe', () => {
  fail('a', 5)
  vi.advanceTimersByTime(5001)
  outliers.begin('a')
  outliers.left('a')
  expect(outliers.isOut('a')).toBe(false)
})

test('a fifth of the requests may be sent twice, and twenty at once', () => {
  const figures = new QueueFigures()
  const burst = Array.from({length: 30}, () => figures.retry())
  expect(burst.filter(Boolean)).toHaveLength(20)
  let retried = 0
  for (let count = 0; count < 100; count++) {
    figures.enter()
    if (figures.retry()) retried++
  }
  expect(retried).toBeGreaterThanOrEqual(19)
  expect(retried).toBeLessThanOrEqual(20)
  expect(figures.retries).toBe(20 + retried)
})
