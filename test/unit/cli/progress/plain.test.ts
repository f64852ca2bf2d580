import {afterEach, beforeEach, expect, it, vi} from 'vitest'
import {openPlainReporter} from '../../../../src/cli/progress/plain.ts'

let lines: string[]

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text).trimEnd()) > 0)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

it('tells of work in a pipe after a second, every ten seconds where there is something new, and at its end', () => {
  const progress = openPlainReporter({quiet: false, stamped: false}).begin('Build', 'node-1')
  for (let second = 0; second < 25; second++) {
    progress.detail(`step ${second}`)
    vi.advanceTimersByTime(1000)
  }
  progress.done('Built')
  expect(lines).toEqual([
    'node-1: Build: step 0',
    'node-1: Build: step 10',
    'node-1: Build: step 20',
    'node-1: Built (25.0 s)',
  ])
})

it('tells once of waiting for another, and then seldom, and at once what follows', () => {
  const progress = openPlainReporter({quiet: false, stamped: false}).begin('Build', 'node-1')
  for (let second = 0; second < 100; second += 2) {
    progress.detail(`waiting for ada, since ${second} s`, {seldom: true})
    vi.advanceTimersByTime(2000)
  }
  expect(lines).toEqual(['node-1: Build: waiting for ada, since 0 s', 'node-1: Build: waiting for ada, since 60 s'])
  progress.detail('Collecting torch')
  vi.advanceTimersByTime(10_000)
  expect(lines.at(-1)).toBe('node-1: Build: Collecting torch')
})
