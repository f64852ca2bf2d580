import {expect, test} from 'vitest'
import {patiently, PrivateAddress} from '../../../src/lib/downloads/upstream.ts'

/** Fails with each error in turn, then answers. */
function failing(...errors: Error[]): {attempt: () => Promise<string>; tries: () => number} {
  let tries = 0
  return {
    tries: () => tries,
    attempt: async () => {
      const error = errors[tries++]
      if (error) throw error
      return 'connected'
    },
  }
}
const coded = (code: string): Error => Object.assign(new Error(code), {code})

test('a lost packet, and a resolver that is busy, are tried again', async () => {
  const {attempt, tries} = failing(new Error('no answer'), coded('EAI_AGAIN'))
  await expect(patiently(attempt, [1, 1])).resolves.toBe('connected')
  expect(tries()).toBe(3)
})

test('it gives up with what was said last', async () => {
  const {attempt, tries} = failing(
    new Error('no answer'),
    new Error('no answer'),
    coded('ENETUNREACH'),
    new Error('never seen'),
  )
  await expect(patiently(attempt, [1, 1])).rejects.toThrow('ENETUNREACH')
  expect(tries()).toBe(3)
})

test.each([coded('ECONNREFUSED'), coded('ENOTFOUND'), new PrivateAddress('10.0.0.1')])(
  'an answer is not asked for twice: %s',
  async (error) => {
    const {attempt, tries} = failing(error)
    await expect(patiently(attempt, [1, 1])).rejects.toBe(error)
    expect(tries()).toBe(1)
  },
)
