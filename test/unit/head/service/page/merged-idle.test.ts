import {expect, test} from 'vitest'
import {idleBody} from '../../../../../src/lib/head/service/page/idle.ts'
import {logSection, readChoice, wishOf} from '../../../../../src/lib/head/service/page/log.ts'
import type {PageLines, PageRunDetail} from '../../../../../src/lib/head/types.ts'
import {idleOf} from '../../../../support/page-facts.ts'

const NOW = Date.UTC(2026, 10, 27, 12, 30)
const choice = (query: string): ReturnType<typeof readChoice> => readChoice(new URLSearchParams(query))

test('an address means one rank, some, or all, from a place on, up to one, or the lines with a text', () => {
  expect(wishOf('r', choice('rank=3&from=5'))).toEqual({run: 'r', rank: 3, attempt: null, at: {from: 5}})
  expect(wishOf('r', choice('rank=all&at=error&attempt=2'))).toEqual({
    run: 'r',
    attempt: 2,
    ranks: null,
    only: null,
    at: {error: true},
  })
  expect(wishOf('r', choice('rank=0,4-6&search=loss&after=7'))).toMatchObject({
    ranks: [0, 4, 5, 6],
    at: {search: 'loss', after: 7},
  })
  expect(wishOf('r', choice('rank=2&search=loss&only=1'))).toMatchObject({ranks: [2], only: 'loss', at: {end: true}})
  expect(wishOf('r', choice('rank=all&before=9'))).toMatchObject({ranks: null, at: {before: 9}})
  for (const odd of ['', 'x', '1-', '-1', '9999999', '3-1'])
    expect(wishOf('r', choice(`rank=${odd}`)), odd).not.toHaveProperty('rank', expect.any(Number))
  expect((wishOf('r', choice('rank=0-999999')) as {ranks: number[]}).ranks).toHaveLength(4096)
})

test('the log of several ranks leads to the first error of any, and to what comes before and after', () => {
  const run = {run: 'digits-ab12c', worldSize: 4} as PageRunDetail
  const lines: PageLines = {
    rank: null,
    attempt: 1,
    node: 'gpu01, gpu02',
    from: 1000,
    to: 2000,
    size: 5000,
    text: '[0-3] step\n[2] ValueError: boom\n',
    open: true,
    ranks: [0, 1, 2, 3],
    attempts: [1],
    found: 1500,
  }
  const {text} = logSection(run, choice('rank=all&search=boom'), lines, undefined)
  expect(text).toContain('rank=all&amp;at=error')
  expect(text).toContain('before=1000')
  expect(text).toContain('from=2000')
  expect(text).toContain('after=1500')
  expect(text).toContain('[2] Value')
  expect(text).toContain('1970-01-01 00:00:01 to 1970-01-01 00:00:02 UTC')
  const only = logSection(run, choice('rank=all&search=boom&only=1'), lines, undefined).text
  expect(only).toContain('only=1&amp;before=1000')
  expect(only).toContain('checked')
  const never = logSection(run, choice('rank=all'), {...lines, to: 1e300}, undefined).text
  expect(never, 'a node that tells an impossible time does not take the page').toContain('00:00:01 to ? UTC')
})

test('idle GPUs: what does nothing now, hour by hour, and whose hours it were', () => {
  const {text} = idleBody(idleOf(NOW), undefined, 7, NOW)
  expect(text).toContain('reserved, dark')
  expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;')
  expect(text).not.toContain('<img')
  expect(text).toContain('2026-11-27 11:00Z: 8.0 GPU hours, 6.0 computed, 2.0 idle')
  expect(text).toContain('gpu07: connection refused')
  const empty = {...idleOf(NOW), idle: [], users: [], projects: [], hours: [], unasked: []}
  expect(idleBody(empty, undefined, 1, NOW).text).toContain('No GPU is idle that flexrack can see')
  expect(idleBody(undefined, 'no <one> is there', 1, NOW).text).toContain('no &lt;one&gt; is there')
})
