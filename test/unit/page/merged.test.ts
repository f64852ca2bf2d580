import {expect, test} from 'vitest'
import {rangesOf} from '../../../src/lib/base/index.ts'
import {earliest, mergedQuestion, mergeParts, textOf} from '../../../src/lib/page/merged.ts'

type Part = Parameters<typeof earliest>[0] extends ReadonlyMap<string, infer P> ? P : never
const part = (changed: Partial<Part>): Part => ({
  attempt: 1,
  ranks: [0],
  attempts: [1],
  from: 0,
  to: 1000,
  size: 10,
  pieces: [],
  found: null,
  live: false,
  ...changed,
})

test('lines that ranks wrote alike stand there once, with the ranks before them', () => {
  const pieces = [
    {t: 1, rank: 0, text: 'start\nstep 1\nstep 1\n'},
    {t: 1, rank: 1, text: 'start\nstep 1\nslow\n'},
    {t: 1, rank: 2, text: 'start\nstep 1\nstep 1\n'},
    {t: 2, rank: 2, text: 'start\n'},
  ]
  expect(textOf(pieces)).toBe('[0-2] start\n[0-2] step 1\n[0,2] step 1\n[1] slow\n[2] start\n')
  expect(textOf([])).toBe('')
  expect(rangesOf([0, 1, 2, 5, 7, 8])).toBe('0-2,5,7-8')
})

test('nodes are laid together by time, and what one of them has not told yet is left for the next part', () => {
  const first = part({
    live: true,
    to: 3000,
    ranks: [0],
    pieces: [1000, 2000, 3000].map((t) => ({t, rank: 0, text: `${t}\n`})),
  })
  const second = part({
    live: true,
    to: 2500,
    ranks: [1],
    pieces: [1500, 2500].map((t) => ({t, rank: 1, text: `${t}\n`})),
  })
  const whole = mergeParts(
    new Map([
      ['a', first],
      ['b', second],
    ]),
    false,
  )
  expect(whole).toMatchObject({from: 0, to: 2500, open: true, ranks: [0, 1], node: 'a, b', size: 20, rank: null})
  expect(whole.text).toBe('[0] 1000\n[1] 1500\n[0] 2000\n[1] 2500\n')
})

test('a node whose sampler has ended holds nobody up, nor does one that is over', () => {
  const now = 10_000_000
  const goes = part({live: true, to: now, pieces: [{t: now, rank: 0, text: 'here\n'}]})
  for (const other of [part({live: true, to: now - 200_000}), part({to: 500})])
    expect(
      mergeParts(
        new Map([
          ['a', goes],
          ['b', other],
        ]),
        false,
      ),
    ).toMatchObject({to: now, text: '[0] here\n'})
})

test('read backwards, nothing is shown of a time that one of them does not reach back to', () => {
  const near = part({from: 2000, to: 3000, pieces: [{t: 2500, rank: 0, text: 'near\n'}]})
  const far = part({
    from: 0,
    to: 3000,
    pieces: [
      {t: 500, rank: 1, text: 'far\n'},
      {t: 2600, rank: 1, text: 'too\n'},
    ],
  })
  expect(
    mergeParts(
      new Map([
        ['a', near],
        ['b', far],
      ]),
      true,
    ),
  ).toMatchObject({from: 2000, to: 3000, text: '[0] near\n[1] too\n'})
})

test('an attempt that only some nodes had is theirs, and the first of what was found counts', () => {
  const old = part({attempt: 1, attempts: [1], pieces: [{t: 1, rank: 0, text: 'old\n'}]})
  const fresh = part({attempt: 2, attempts: [1, 2], pieces: [{t: 2, rank: 1, text: 'new\n'}]})
  expect(
    mergeParts(
      new Map([
        ['a', old],
        ['b', fresh],
      ]),
      true,
    ),
  ).toMatchObject({attempt: 2, attempts: [1, 2], text: '[1] new\n'})
  const parts = new Map([
    ['a', part({from: 70, found: 90})],
    ['b', part({from: 10, found: 30})],
    ['c', part({})],
  ])
  expect(earliest(parts)).toEqual({from: 10, found: 30})
  expect(earliest(new Map([['c', part({})]]))).toBeUndefined()
})

test('a question has the place that is meant', () => {
  const wish = {run: 'r', attempt: null, ranks: null, only: null}
  const at = (place: Parameters<typeof mergedQuestion>[0]['at']): object => mergedQuestion({...wish, at: place})
  expect(at({end: true})).toEqual(wish)
  expect(at({from: 5})).toEqual({...wish, from: 5})
  expect(at({before: 5})).toEqual({...wish, before: 5})
  expect(at({search: 'x', after: 5})).toEqual({...wish, search: 'x', after: 5})
  expect(at({error: true})).toEqual({...wish, failure: true})
})
