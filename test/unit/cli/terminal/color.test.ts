import {expect, it} from 'vitest'
import {colorLevel} from '../../../../src/cli/terminal/color.ts'

it.each([
  ['colours a terminal', true, {}, 1],
  ['leaves a pipe plain', false, {}, 0],
  ['obeys NO_COLOR on a terminal', true, {NO_COLOR: '1'}, 0],
  ['takes an empty NO_COLOR for unset', true, {NO_COLOR: ''}, 1],
  ['prefers NO_COLOR to FORCE_COLOR', true, {NO_COLOR: '1', FORCE_COLOR: '1'}, 0],
  ['obeys FORCE_COLOR in a pipe', false, {FORCE_COLOR: '1'}, 1],
  ['obeys FORCE_COLOR=0', true, {FORCE_COLOR: '0'}, 0],
  ['leaves a dumb terminal plain', true, {TERM: 'dumb'}, 0],
])('%s', (_, isTTY, env, level) => {
  expect(colorLevel({isTTY}, env)).toBe(level)
})
