import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import {TargetHealth} from '../../../../../src/lib/head/service/queue/target-health.ts'

const TARGET = 'http://127.0.0.1:1'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a target that refuses is tried again later and later, by one request at a time', () => {
  let told = 0
  const health = new TargetHealth(() => told++)
  for (const wait of [50, 100, 200, 400, 800, 1000, 1000]) {
    health.begin(TARGET)
    health.refused(TARGET)
    health.refused(TARGET) // of another request that was under way: it counts once
    expect(health.isOpen(TARGET)).toBe(false)
    told = 0
    vi.advanceTimersByTime(wait + 1)
    expect([told, health.isOpen(TARGET)]).toEqual([1, true])
    health.begin(TARGET)
    expect(health.isOpen(TARGET), 'one is on its way').toBe(false)
  }
  health.connected(TARGET)
  expect(health.isOpen(TARGET)).toBe(true)
  health.begin(TARGET)
  health.refused(TARGET)
  vi.advanceTimersByTime(51)
  expect(health.isOpen(TARGET), 'it begins with the shortest again').toBe(true)
})

test('who probes and goes away lets another one probe', () => {
  const health = new TargetHealth(() => {})
  health.refused(TARGET)
  vi.advanceTimersByTime(51)
  health.begin(TARGET)
  health.left(TARGET)
  expect(health.isOpen(TARGET)).toBe(true)
})

test('a front that takes connections does not say that its server does', () => {
  const health = new TargetHealth(() => {})
  health.refused(TARGET, true)
  vi.advanceTimersByTime(51)
  health.begin(TARGET)
  health.connected(TARGET)
  expect(health.isOpen(TARGET)).toBe(false)
  health.answered(TARGET)
  expect(health.isOpen(TARGET)).toBe(true)
})
