import {expect, test} from 'vitest'
import {ChangePace} from '../../../../../src/lib/head/service/audit/pace.ts'

test('one person changes six hundred things at once, then one a second, and nobody else waits for that', () => {
  const pace = new ChangePace()
  for (let at = 0; at < 600; at++) pace.take('mallory', 1000)
  const taken = (user: string, now: number): unknown => {
    try {
      return pace.take(user, now)
    } catch (error) {
      return error
    }
  }
  expect(taken('mallory', 1000)).toMatchObject({status: 429, code: 'REFUSED', more: {retry_after: 1}})
  expect(taken('alice', 1000)).toBeUndefined()
  expect(taken('mallory', 2001)).toBeUndefined()
  expect(taken('mallory', 2002)).toMatchObject({status: 429})
})

test('changes that belong together are made together, and owed', () => {
  const pace = new ChangePace()
  pace.take('rack', 0, 900)
  expect(() => pace.take('rack', 60_000)).toThrow(/changes more than 60 things/)
  expect(() => pace.take('rack', 302_000)).not.toThrow()
})
