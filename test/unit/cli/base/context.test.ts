import {expect, it} from 'vitest'
import {once} from '../../../../src/cli/base/context.ts'

/** At which of these times, in milliseconds, a stop is heard. */
function heard(times: number[], echoed: boolean): number[] {
  const stops: number[] = []
  let now = 0
  const listen = once(
    () => stops.push(now),
    echoed,
    () => now,
  )
  for (now of times) listen('interrupted')
  return stops
}

it('two signals at the same time are one stop, a second later are two', () => {
  expect(heard([1000, 1010, 2000], false)).toEqual([1000, 2000])
})

it('a signal that comes twice, and late on a busy machine, is one stop; the next press is the second', () => {
  expect(heard([1000, 1800, 2500, 3900], true)).toEqual([1000, 2500])
  expect(heard([1000, 1001, 1400, 1402], true)).toEqual([1000, 1400])
})

it('a signal whose echo never came is heard again later', () => {
  expect(heard([1000, 9000], true)).toEqual([1000, 9000])
})
