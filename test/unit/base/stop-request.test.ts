import {expect, it} from 'vitest'
import {isRequested, StopRequest} from '../../../src/lib/base/index.ts'

it('tells an end that the user asked for from a terminal or a reader that is gone, by its type', () => {
  expect(
    (['user', 'terminal', 'reader'] as const).map((by) => isRequested(AbortSignal.abort(new StopRequest(by)))),
  ).toEqual([true, false, false])
  expect(isRequested(AbortSignal.abort())).toBe(true)
  expect(isRequested(AbortSignal.abort(new Error('the printer has gone')))).toBe(true)
  expect(new StopRequest('terminal')).toMatchObject({name: 'AbortError', message: 'the terminal has gone'})
})
