import {expect, test} from 'vitest'
import {chainHash, checkChain, FIRST_HASH, link} from '../../../src/lib/chain/index.ts'

const lines = (count: number): string[] => {
  let before = FIRST_HASH
  return Array.from({length: count}, (_, at) => {
    const {line, hash} = link({seq: at + 1, before, what: `thing ${at + 1}`})
    before = hash
    return line
  })
}
const faultsOf = (kept: string[], anchors = [] as {seq: number; hash: string}[]): string[] =>
  checkChain(kept, anchors).faults.map((one) => one.what)

test('lines that are as they were written hold, and say where they end', () => {
  const check = checkChain(lines(5))
  expect(check).toMatchObject({lines: 5, first: 1, faults: [], last: {seq: 5}})
  expect(checkChain([])).toEqual({lines: 0, first: 0, last: null, faults: []})
})

test('a changed line is named, also where its own hash was made anew, and also the last one', () => {
  const kept = lines(5)
  expect(faultsOf(kept.with(2, kept[2]!.replace('thing 3', 'thing x')))).toEqual([
    'line 3 was changed: its hash is another one',
  ])
  expect(faultsOf(kept.with(4, kept[4]!.replace('thing 5', 'thing x')))).toEqual([
    'line 5 was changed: its hash is another one',
  ])
  const text = JSON.stringify({seq: 3, before: JSON.parse(kept[2]!).before as string, what: 'forged'})
  expect(faultsOf(kept.with(2, `${text.slice(0, -1)},"hash":"${chainHash(text)}"}`))).toEqual([
    'line 3 is not the one that line 4 was written after',
  ])
})

test('missing, swapped and doubled lines are named', () => {
  const kept = lines(6)
  expect(faultsOf(kept.toSpliced(2, 1))).toEqual(['line 3 is missing'])
  expect(faultsOf(kept.toSpliced(1, 3))).toEqual(['lines 2 to 4 are missing'])
  expect(faultsOf([kept[0]!, kept[2]!, kept[1]!, ...kept.slice(3)])[0]).toBe('line 2 is missing')
  expect(faultsOf([kept[0]!, kept[2]!, kept[1]!, ...kept.slice(3)])[1]).toContain('swapped or doubled')
  expect(faultsOf(kept.toSpliced(2, 0, kept[1]!))).toEqual(['line 2 comes after line 2: lines were swapped or doubled'])
})

test('a cut end, and a log that was written anew, are told by what was seen before', () => {
  const [seen] = [checkChain(lines(6)).last!]
  expect(faultsOf(lines(4))).toEqual([])
  expect(faultsOf(lines(4), [seen])).toEqual([
    'the log ends at line 4, and line 6 was seen before: its end was cut off',
  ])
  const {line} = link({seq: 6, before: JSON.parse(lines(6)[5]!).before as string, what: 'another'})
  expect(faultsOf([...lines(5), line], [seen])[0]).toContain('is not the one that was seen here before')
  expect(faultsOf(lines(8), [seen])).toEqual([])
})
