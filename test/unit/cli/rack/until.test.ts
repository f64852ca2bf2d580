import {expect, test} from 'vitest'
import {leavingText, nodeEnd} from '../../../../src/cli/rack/until.ts'

test('nodes go after a while, or on a day', () => {
  const now = Date.parse('2026-11-26T12:00:00Z')
  expect([nodeEnd('12h', now), nodeEnd('2026-12-01', now), nodeEnd('2026-11-30T18:00+01:00', now)]).toEqual([
    '2026-11-27T00:00:00Z',
    '2026-12-01T00:00:00Z',
    '2026-11-30T17:00:00Z',
  ])
  for (const bad of ['2026-11-25', '0d', 'soon', ''])
    expect(() => nodeEnd(bad, now)).toThrow(expect.objectContaining({code: 'USAGE'}))
  const node = {host: 'h', root: '~', labels: {}}
  expect(
    leavingText([
      {name: 'a', ...node},
      {name: 'b', ...node, until: '2026-11-30T17:00:00Z'},
    ]),
  ).toBe('b is there until 2026-11-30T17:00:00Z')
})
