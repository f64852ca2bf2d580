import {describe, expect, test} from 'vitest'
import {needed} from '../../../src/lib/train/needed.ts'

describe('never more than needed', () => {
  const fits =
    (...sets: string[][]) =>
    (gone: readonly string[]): boolean =>
      sets.some((set) => set.every((one) => gone.includes(one)))

  test('the cheapest that suffice, and whoever was not needed after all stays', () => {
    expect(needed(['a', 'b', 'c'], fits(['b']))).toEqual(['b'])
    expect(needed(['a', 'b', 'c'], fits(['a', 'c'], ['b', 'c']))).toEqual(['a', 'c'])
    expect(needed(['a', 'b', 'c'], fits(['c'], ['a', 'b', 'c']))).toEqual(['c'])
  })

  test('nobody where it fits without, or does not fit with all of them', () => {
    expect(needed(['a', 'b'], () => true)).toEqual([])
    expect(needed(['a', 'b'], () => false)).toEqual([])
    expect(needed([], () => false)).toEqual([])
  })
})
