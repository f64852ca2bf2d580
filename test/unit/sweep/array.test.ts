import {expect, test} from 'vitest'
import {isArray} from '../../../src/lib/sweep/array.ts'
import {rangesOf} from '../../../src/lib/base/index.ts'

test('trials stand in the queue all at once only where none depends on another one, nor on the time', () => {
  const none = {name: 'none'} as const
  for (const sampler of ['grid', 'random', 'qmc'] as const) expect(isArray({sampler, pruner: none})).toBe(true)
  for (const sampler of ['tpe', 'cmaes'] as const) expect(isArray({sampler, pruner: none})).toBe(false)
  expect(isArray({sampler: 'grid', pruner: {name: 'asha'}})).toBe(false)
  expect(isArray({sampler: 'random', pruner: none, time: 60})).toBe(false)
})

test('numbers of tasks become ranges, in order, each number once', () => {
  expect(rangesOf([0])).toBe('0')
  expect(rangesOf([7, 0, 1, 2, 9, 10])).toBe('0-2,7,9-10')
  for (let seed = 1; seed <= 200; seed++) {
    const numbers = Array.from({length: 40}, (_, number) => number).filter(
      (number) => (seed * (number + 3) * 2_654_435_761) % 97 < 60,
    )
    const back = rangesOf(numbers)
      .split(',')
      .filter((part) => part !== '')
      .flatMap((part) => {
        const [first = 0, last = first] = part.split('-').map(Number)
        return Array.from({length: last - first + 1}, (_, index) => first + index)
      })
    expect(back).toEqual(numbers)
  }
})
