import {describe, expect, test} from 'vitest'
import {inOrderOfRoom, lostWith, needed, SLICE_SECONDS, yieldsTo, type Holder} from '../../../src/lib/fairness/index.ts'

const holder = (run: string, more: Partial<Holder> = {}): Holder => ({
  run,
  parts: [{node: 'n1', gpus: [run], exclusive: false}],
  ends: null,
  user: 'ann',
  priority: 0,
  gpus: 1,
  preemptible: true,
  from: 0,
  saved: null,
  ...more,
})

describe('who makes room', () => {
  const now = SLICE_SECONDS
  const to = (one: Holder, comer: {user: string; priority: number}, used = {}): boolean =>
    yieldsTo(one, comer, {now, used})

  test('a preemptible run, for a higher priority; never for a lower one', () => {
    expect(to(holder('a'), {user: 'ann', priority: 1})).toBe(true)
    expect(to(holder('a', {preemptible: false}), {user: 'bob', priority: 100})).toBe(false)
    expect(to(holder('a', {priority: 2}), {user: 'bob', priority: 1}, {ann: 50})).toBe(false)
  })

  test('with the same priority for a user who had a whole GPU hour less, once it has had its slice', () => {
    const bob = {user: 'bob', priority: 0}
    expect(to(holder('a'), bob, {ann: 5.2, bob: 4.9})).toBe(true)
    expect(to(holder('a'), bob, {ann: 5.9, bob: 5.1}), 'the line does not tell them apart').toBe(false)
    expect(to(holder('a'), bob, {ann: 4, bob: 5})).toBe(false)
    expect(to(holder('a', {from: 1}), bob, {ann: 5, bob: 0}), 'it has only just begun').toBe(false)
    expect(to(holder('a'), {user: 'ann', priority: 0}, {ann: 5})).toBe(false)
  })

  test('lower priorities first, then whose newest checkpoint loses less', () => {
    const runs = [
      holder('late', {saved: 90}),
      holder('old', {saved: 10}),
      holder('wide', {saved: 80, gpus: 4}),
      holder('low', {priority: -1}),
      holder('new', {from: 95}),
    ]
    expect(runs.map((one) => lostWith(one, 100))).toEqual([10, 90, 80, 100, 5])
    expect(inOrderOfRoom(runs, 100).map((one) => one.run)).toEqual(['low', 'new', 'late', 'wide', 'old'])
  })
})

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
