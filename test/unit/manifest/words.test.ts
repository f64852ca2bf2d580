import {expect, it} from 'vitest'
import {durationSeconds} from '../../../src/lib/manifest/duration.ts'
import {splitWords} from '../../../src/lib/manifest/words.ts'

it.each([
  ['train.py --epochs 5', ['train.py', '--epochs', '5']],
  ['  a \'b c\'  "d e"\tf ', ['a', 'b c', 'd e', 'f']],
  ['a\'b\'"c"d', ['abcd']],
  ['a "" \'\'', ['a', '', '']],
  [String.raw`a\ b "c\"d" 'e\f' "\x"`, ['a b', 'c"d', String.raw`e\f`, String.raw`\x`]],
  ['a \\\n  b', ['a', 'b']],
  ['--lr=$LR ~/x *.py', ['--lr=$LR', '~/x', '*.py']],
  ['', []],
])('splits %j into words as a shell quotes them', (line, words) => {
  expect(splitWords(line)).toEqual(words)
})

it.each([
  ["a 'b", "has a quote ' that is not closed"],
  ['a "b\'', 'has a quote " that is not closed'],
  ['a \\', 'ends with a backslash'],
])('tells what is wrong with %j', (line, problem) => {
  expect(splitWords(line)).toBe(problem)
})

it.each(['a | b', 'a; b', 'a > f', 'a && b', 'a $(b)', 'a `b`'])('refuses %j, which only a shell could run', (line) => {
  expect(splitWords(line)).toEqual(expect.stringContaining('no shell reads it'))
})

it.each([
  ['10', 10],
  ['10s', 10],
  ['1.5 s', 1.5],
  ['2m', 120],
  ['1h', 3600],
  ['500ms', 0.5],
  ['0', 0],
  ['2h', undefined],
  ['5 days', undefined],
  ['-1s', undefined],
  ['', undefined],
])('reads the duration %j as %j seconds', (text, seconds) => {
  expect(durationSeconds(text)).toBe(seconds)
})
