import {expect, test} from 'vitest'
import {Tail} from '../../../../../src/lib/head/service/page/tail.ts'
import type {PageLines} from '../../../../../src/lib/head/types.ts'

const PIECE = 128 * 1024
const PIECES = 10

test('of a log that is long as HTML little is kept, and what is not is read anew for who comes later', async () => {
  const size = PIECE * PIECES
  const read: number[] = []
  const tail = new Tail(
    (from) => {
      read.push(from)
      const to = Math.min(size, from + PIECE)
      return Promise.resolve({from, to, size, text: '\n'.repeat(to - from), open: true} as PageLines)
    },
    () => {},
    1,
  )
  const follow = (): {places: number[]; end: () => void} => {
    const places: number[] = []
    return {places, end: tail.follow(0, ({to}) => places.push(to))}
  }
  const all = Array.from({length: PIECES}, (_, index) => (index + 1) * PIECE)
  const first = follow()
  await expect.poll(() => first.places).toEqual(all)
  const before = read.filter((from) => from < size).length
  const second = follow()
  await expect.poll(() => second.places).toEqual(all)
  const again = read.filter((from) => from < size).length - before
  expect(again).toBeGreaterThanOrEqual(PIECES - 4)
  expect(again).toBeLessThan(PIECES)
  first.end()
  second.end()
})
