import {expect, test} from 'vitest'
import {Packing} from '../../../src/lib/sweep/packing.ts'

test('trials go where most room is left, then in the order of the rack, and never beyond the cores', () => {
  const packing = new Packing(
    [
      {node: 'a', cores: 4},
      {node: 'b', cores: 2},
      {node: 'c', cores: 8},
    ],
    {size: 1, processes: 2},
  )
  expect(packing.capacity).toBe(7)
  const taken = Array.from({length: 7}, () => packing.take())
  expect(taken).toEqual([['c'], ['c'], ['a'], ['c'], ['a'], ['b'], ['c']])
  expect(packing.take()).toBeUndefined()
  packing.giveBack(['b'])
  expect(packing.take()).toEqual(['b'])
})

test('a node takes one trial in any case: fewer cores than processes, or cores that nobody knows', () => {
  const packing = new Packing(
    [
      {node: 'a', cores: 1},
      {node: 'b', cores: null},
    ],
    {size: 1, processes: 4},
  )
  expect([packing.capacity, packing.take(), packing.take(), packing.take()]).toEqual([2, ['a'], ['b'], undefined])
})

test('a trial of several nodes has each of them once; what an earlier command left there counts', () => {
  const packing = new Packing(
    [
      {node: 'a', cores: 2},
      {node: 'b', cores: 2},
      {node: 'c', cores: 2},
    ],
    {size: 2, processes: 1},
  )
  expect(packing.capacity).toBe(3)
  packing.add(['a', 'b'])
  expect([packing.take(), packing.take(), packing.take()]).toEqual([['a', 'c'], ['b', 'c'], undefined])
})

test('for any rack the capacity is what fits, whatever the order', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = (below: number): number => ((seed * 2_654_435_761 + below * 40_503) % 2_147_483_647) % below
    const rooms = Array.from({length: 1 + random(5)}, (_, index) => ({
      node: `n${index}`,
      cores: 1 + ((seed >> index) % 9),
    }))
    const size = 1 + (seed % rooms.length)
    const packing = new Packing(rooms, {size, processes: 1 + (seed % 3)})
    let fits = 0
    while (fits <= 1000 && packing.take()) fits++
    expect([seed, fits]).toEqual([seed, packing.capacity])
  }
})
