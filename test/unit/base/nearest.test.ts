import {expect, it} from 'vitest'
import {editDistance, nearestName} from '../../../src/lib/base/nearest.ts'

it.each([
  ['', 'abc', 3],
  ['train', 'train', 0],
  ['trian', 'train', 1],
  ['tran', 'train', 1],
  ['trains', 'train', 1],
  ['ca', 'abc', 3],
])('counts the edits from "%s" to "%s" as %i, a swap of neighbours being one', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance)
  expect(editDistance(b, a)).toBe(distance)
})

it('names the nearest candidate, whatever its case', () => {
  expect(nearestName('torchrn', ['plain', 'torchrun'])).toBe('torchrun')
  expect(nearestName('Launcher', ['launcher', 'nodes'])).toBe('launcher')
})

it('names none where no candidate can have been meant', () => {
  expect(nearestName('kubernetes', ['plain', 'torchrun'])).toBeUndefined()
  expect(nearestName('x', ['abc'])).toBeUndefined()
  expect(nearestName('', ['abc'])).toBeUndefined()
  expect(nearestName('abc', [])).toBeUndefined()
})
