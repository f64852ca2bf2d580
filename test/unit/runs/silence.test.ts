import {expect, test} from 'vitest'
import {goneNodes, type Heard} from '../../../src/lib/runs/silence.ts'

const nodes = (...parts: Partial<Heard>[]): Heard[] =>
  parts.map((part, index) => ({
    node: `node-${index + 1}`,
    index,
    term: 1,
    leader: 'node-1',
    replaceable: true,
    committed: part.over !== undefined && (part.leader ?? 'node-1') === `node-${index + 1}`,
    over: undefined,
    at: 0,
    ...part,
  }))
const second = {term: 2, leader: 'node-2'}

test('as long as nobody knows the end, silence means nothing', () => {
  expect(goneNodes(nodes({}, {}, {}), 3_600_000)).toEqual([])
  expect(goneNodes(nodes({}), 3_600_000)).toEqual([])
})

test('once the leader has ended the run, a member that stays silent for 20 s is given up, and one that speaks is not', () => {
  const ended = nodes({over: 50_000, at: 50_000}, {at: 10_000}, {at: 69_000})
  expect(goneNodes(ended, 69_000)).toEqual([])
  expect(goneNodes(ended, 71_000)).toEqual(['node-2'])
})

test('a leader that is silent for 60 s is given up only where every member that speaks says that the run is over', () => {
  const members = (...parts: Partial<Heard>[]): Heard[] => nodes({at: 0}, ...parts)
  expect(goneNodes(members({over: 40_000, at: 40_000}, {at: 99_000}), 101_000)).toEqual([])
  expect(goneNodes(members({over: 40_000, at: 40_000}, {over: 45_000, at: 45_000}), 104_000)).toEqual([])
  expect(goneNodes(members({over: 40_000, at: 40_000}, {over: 45_000, at: 45_000}), 106_000)).toEqual(['node-1'])
  expect(goneNodes(members({over: 40_000, at: 40_000}, {at: 1000}), 106_000)).toEqual(['node-1', 'node-3'])
})

test('a leader that was lost is a member once another one leads the run, and is given up 20 s after that one has ended it', () => {
  const led = (over?: number): Heard[] =>
    nodes({at: 30_000}, {...second, over, at: over ?? 500_000}, {...second, at: over ?? 500_000})
  expect(goneNodes(led(), 500_500)).toEqual([])
  expect(goneNodes(led(600_000), 619_000)).toEqual([])
  expect(
    goneNodes(
      led(600_000).map((one) => (one.index === 2 ? {...one, over: 600_000} : one)),
      621_000,
    ),
  ).toEqual(['node-1'])
})

test('the end of an old leader is no end of the run while the others choose another one, or follow it', () => {
  // Its supervisor was killed, or it was cut off: over, and no judgement.
  const cut = {over: 40_000, at: 40_000, committed: false}
  expect(goneNodes(nodes(cut, {at: 95_000}, {at: 50_000}), 99_000)).toEqual([])
  expect(goneNodes(nodes(cut, {at: 30_000}, {at: 30_000}), 99_000)).toEqual([])
  expect(goneNodes(nodes(cut, {at: 30_000}, {at: 30_000}), 101_000)).toEqual(['node-2', 'node-3'])
  // It had committed, but another one leads since.
  expect(
    goneNodes(nodes({over: 40_000, at: 40_000}, {...second, at: 95_000}, {...second, at: 50_000}), 99_000),
  ).toEqual([])
})

test('the end of a leader that no other can follow is the end of the run, whatever it died of', () => {
  const fixed = nodes({over: 40_000, at: 40_000, committed: false}, {at: 30_000}, {at: 59_000}).map((one) => ({
    ...one,
    replaceable: false,
  }))
  expect(goneNodes(fixed, 59_000)).toEqual([])
  expect(goneNodes(fixed, 61_000)).toEqual(['node-2'])
})

test('whoever has the committed result of a leader that has gone knows the end as well as that one', () => {
  expect(goneNodes(nodes({at: 30_000}, {over: 40_000, at: 40_000, committed: true}, {at: 30_000}), 61_000)).toEqual([
    'node-3',
  ])
  expect(goneNodes(nodes({at: 30_000}, {over: 40_000, at: 40_000, committed: true}, {at: 99_000}), 101_000)).toEqual([
    'node-1',
  ])
})

test('nobody who speaks is ever given up, nobody at all before somebody is over, and all that stays silent in the end', () => {
  const choices =
    <T>(...values: T[]) =>
    (index: number): T =>
      values[index % values.length] as T
  const [over, leaders, at] = [
    choices(undefined, 100_000, undefined),
    choices({term: 1, leader: 'node-1'}, second, {term: 1, leader: 'node-1'}, {term: 3, leader: 'node-3'}),
    choices(20_000, 119_000),
  ]
  for (let round = 0; round < 3 ** 3 * 4 ** 3 * 2 ** 3; round++) {
    const own = [0, 1, 2].map((index) => ({
      o: Math.floor(round / 3 ** index) % 3,
      l: Math.floor(round / 27 / 4 ** index) % 4,
      a: Math.floor(round / 1728 / 2 ** index) % 2,
    }))
    const all = own.map(({o, l, a}, index): Heard => ({
      node: `node-${index + 1}`,
      index,
      ...leaders(l),
      over: over(o),
      replaceable: true,
      committed: o === 1 && l === index,
      at: at(a),
    }))
    const isOver = all.some((one) => one.over !== undefined)
    const gone = goneNodes(all, 120_000)
    expect(
      gone.filter((name) => all.some((one) => one.node === name && (one.at === 119_000 || one.over !== undefined))),
    ).toEqual([])
    if (!isOver) expect(gone).toEqual([])
    const silent = all.map((one) => ({...one, at: 20_000}))
    expect(goneNodes(silent, 3_600_000)).toEqual(
      isOver ? all.filter((one) => one.over === undefined).map((one) => one.node) : [],
    )
  }
})
