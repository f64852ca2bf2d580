import {expect, test} from 'vitest'
import {readMoment} from '../../../src/lib/history/index.ts'

const now = new Date(2026, 2, 4, 12, 0, 0)
const at = (text: string): Date => new Date((readMoment(text, now).at as number) * 1000)

test('an id, a time ago, and nothing', () => {
  expect(readMoment(undefined)).toEqual({})
  expect(readMoment('1a2b3c4d')).toEqual({snapshot: '1a2b3c4d'})
  expect(readMoment('12345678')).toEqual({snapshot: '12345678'})
  expect(at('2h')).toEqual(new Date(2026, 2, 4, 10))
  expect(at('3d')).toEqual(new Date(2026, 2, 1, 12))
})

test('times of a day are all of their minute, of yesterday where they are still to come; a day is all of it', () => {
  expect(at('11:30')).toEqual(new Date(2026, 2, 4, 11, 30, 59, 999))
  expect(at('12:00')).toEqual(new Date(2026, 2, 4, 12, 0, 59, 999))
  expect(at('12:01')).toEqual(new Date(2026, 2, 3, 12, 1, 59, 999))
  expect(at('2026-03-01')).toEqual(new Date(2026, 2, 1, 23, 59, 59, 999))
  expect(at('2026-03-01 14:30')).toEqual(new Date(2026, 2, 1, 14, 30, 59, 999))
  expect(at('2026-03-01T14:30:05Z').toISOString()).toBe('2026-03-01T14:30:05.999Z')
})

test.each(['', 'yesterday', '1a2b', '25:00', '12:75', '2026-13-01', '-2h', '2h ago', 'XYZ12345'])(
  '%s is refused',
  (text) => {
    expect(() => readMoment(text, now)).toThrow(/neither a time nor a snapshot/)
  },
)
