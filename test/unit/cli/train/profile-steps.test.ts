import {expect, test} from 'vitest'
import {parseProfileSteps, PROFILE_STEPS} from '../../../../src/cli/train/profile-steps.ts'

test('steps to skip and to record', () => {
  expect(parseProfileSteps(PROFILE_STEPS)).toEqual({skip: 10, steps: 3})
  expect(parseProfileSteps('2:1')).toEqual({skip: 2, steps: 1})
})

test.each(['', '10', '1:3', '5:0', '-2:3', 'a:b', '10:3:1', '9999999999:1'])(
  '%s is refused with what it is to look like',
  (text) => {
    expect(() => parseProfileSteps(text)).toThrow(/is not SKIP:STEPS/)
  },
)
