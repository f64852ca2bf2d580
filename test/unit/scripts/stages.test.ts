import {expect, it} from 'vitest'
import {stagesOf} from '../../../scripts/testing/stages.ts'
import {FAST, LONG, partsOf, type Part} from '../../../scripts/testing/suites.ts'

const shown = (parts: Part[]): string[] => stagesOf(parts).map((stage) => stage.map(({suite}) => suite).join(' + '))

it('runs suites beside each other that wait for other things, and every part once', () => {
  expect(shown(partsOf([]))).toEqual(['checks', 'node + unit', 'integration + e2e', 'native'])
  expect(shown(FAST)).toEqual(['checks', 'unit + node'])
  expect(stagesOf(LONG)).toEqual(LONG.map((part) => [part])) // each has an environment of its own
})

it('leaves alone what chooses of its suite: words of one are not for the other', () => {
  expect(shown(partsOf(['integration', 'train', 'e2e', 'attach']))).toEqual(['integration', 'e2e'])
  expect(shown(partsOf(['unit', 'train', 'node', 'test_gang']))).toEqual(['unit + node'])
  expect(shown(partsOf(['unit', 'a', 'unit', 'b']))).toEqual(['unit', 'unit'])
})
