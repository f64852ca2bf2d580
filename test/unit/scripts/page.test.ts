import {expect, test} from 'vitest'
import {missing, shownIn, steady, withOutputs} from '../../support/page.ts'

const PAGE =
  'Text.\n\n```console\n$ flexrack status\nrack lab\n$ cd digits\n```\n\nMore.\n\n```console\n$ flexrack check\nNothing to mend.\n```\n'

test('commands of a page come in order, each with what is shown below it', () => {
  expect(shownIn(PAGE)).toEqual([
    {command: 'flexrack status', output: ['rack lab']},
    {command: 'cd digits', output: []},
    {command: 'flexrack check', output: ['Nothing to mend.']},
  ])
  expect(withOutputs(PAGE, [['rack lab'], [], ['Nothing to mend.']])).toBe(PAGE)
  expect(withOutputs(PAGE, [['a', 'b'], [], []])).toContain('$ flexrack status\na\nb\n$ cd digits\n```')
})

test('what is another each time does not count, and everything else does', () => {
  expect(steady('run:   digits-t9nzv finished in 1 min 12 s, 0.9444')).toBe(
    steady('run: digits-abcde finished in 3 s, 0.95'),
  )
  expect(missing(['a 1', '...', 'c 3'], ['a 2', 'b', 'c 4'])).toBeUndefined()
  expect(missing(['c', 'a'], ['a', 'c'])).toBe('a')
  expect(missing(['finished'], ['failed'])).toBe('finished')
})
