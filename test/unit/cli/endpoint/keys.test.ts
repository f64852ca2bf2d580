import {expect, test} from 'vitest'
import {keysText, limitOf, secondsUntil} from '../../../../src/cli/endpoint/keys.ts'

test('a key ends after a while, or on a day', () => {
  const now = Date.parse('2026-11-26T12:00:00Z')
  expect([secondsUntil('12h', now), secondsUntil('90d', now), secondsUntil('2026-11-28', now)]).toEqual([
    12 * 3600,
    90 * 86_400,
    36 * 3600,
  ])
  for (const bad of ['2026-11-25', '0d', '367d', '2028-01-01', 'soon', '2026-13-01', '7', ''])
    expect(() => secondsUntil(bad, now)).toThrow(expect.objectContaining({code: 'USAGE'}))
})

test('limits are numbers over 0', () => {
  expect([limitOf('0.5', '--x', false), limitOf('4', '--x', true), limitOf(undefined, '--x', true)]).toEqual([
    0.5,
    4,
    undefined,
  ])
  for (const [text, whole] of [
    ['0', false],
    ['-1', false],
    ['1e3', false],
    ['0.5', true],
    ['', true],
  ] as const)
    expect(() => limitOf(text, '--x', whole)).toThrow(expect.objectContaining({code: 'USAGE'}))
})

test('the list shows limits and use', () => {
  const key = {
    client: 'team-a',
    createdAt: Date.now(),
    expiresAt: Date.parse('2027-01-31'),
    requestsPerSecond: 20,
    concurrency: null,
    tokensPerMinute: 6000,
    inFlight: 1,
    requests: 30,
    tokens: 812,
    refused: 4,
  }
  expect(keysText([key]).split('\n')[1]).toMatch(/^team-a +20 +any +6000 +1 +30 +812 +4 +.* 2027-01-31 00:00$/)
  expect(keysText([])).toContain('flexrack endpoint key add NAME CLIENT')
})
