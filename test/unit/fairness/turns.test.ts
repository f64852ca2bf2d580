import {expect, test} from 'vitest'
import {
  collide,
  decayed,
  faded,
  turnsOf,
  type Part,
  type Running,
  type Waiting,
} from '../../../src/lib/fairness/index.ts'

const gpus = (...ids: number[]): Part[] => [{node: 'n1', gpus: ids.map((id) => `GPU-${id}`), exclusive: false}]
const running = (run: string, parts: Part[], ends: number | null): Running => ({run, parts, ends})
const waiting = (run: string, parts: Part[], more: Partial<Waiting> = {}): Waiting => ({
  run,
  user: 'x',
  parts,
  since: 0,
  priority: 0,
  limit: null,
  ...more,
})
const turns = (some: Running[], others: Waiting[], used = {}): Record<string, unknown> =>
  Object.fromEntries(
    turnsOf({now: 100, running: some, waiting: others, used}).map(({run, starts, by}) => [run, starts ? 'starts' : by]),
  )

test('a run that declares to be over in time passes one that waits, and one that does not is kept waiting', () => {
  const held = [running('long', gpus(1), 400)]
  const wide = waiting('wide', gpus(1, 2), {limit: 50})
  const small = (limit: number | null): Waiting => waiting('small', gpus(2), {since: 1, limit})
  expect(turns(held, [wide, small(300)])).toEqual({wide: 400, small: 'starts'})
  expect(turns(held, [wide, small(301)])).toEqual({wide: 400, small: 450})
  expect(turns(held, [wide, small(null)])).toEqual({wide: 400, small: 450})
})

test('nobody passes who waits for a run that declared no end: it may be over at any moment', () => {
  const wide = waiting('wide', gpus(1, 2), {limit: 50})
  const small = waiting('small', gpus(2), {since: 1, limit: 1})
  expect(turns([running('open', gpus(1), null)], [wide, small])).toEqual({wide: null, small: null})
  const aside = waiting('aside', gpus(3), {since: 1})
  expect(turns([running('open', gpus(1), null)], [wide, aside]), 'it wants nothing of that').toEqual({
    wide: null,
    aside: 'starts',
  })
})

test('a run over its time may end at any moment: nobody passes', () => {
  const wide = waiting('wide', gpus(1, 2), {limit: 50})
  const small = waiting('small', gpus(2), {since: 1, limit: 1})
  expect(turns([running('late', gpus(1), 90)], [wide, small])).toEqual({wide: 100, small: 150})
})

test("a project's priorities order its own runs among the places that they have, and nobody else's", () => {
  const one = (run: string, project: string, since: number, priority = 0, rack = false): Waiting =>
    waiting(run, gpus(1), {project, since, priority, limit: 10, ...(rack && {rack})})
  const line = (...runs: Waiting[]): string[] =>
    turnsOf({now: 9, running: [], waiting: runs, used: {}}).map((each) => each.run)
  expect(line(one('a1', 'a', 1), one('b1', 'b', 2), one('a2', 'a', 3, 9))).toEqual(['a2', 'b1', 'a1'])
  expect(line(one('a1', 'a', 1), one('b1', 'b', 2, 100))).toEqual(['a1', 'b1'])
  expect(line(one('a1', 'a', 1, 100), one('b1', 'b', 2, 1, true)), "the rack's").toEqual(['b1', 'a1'])
  expect(line(one('a1', 'a', 1, 9), one('a2', 'a', 2, 5, true)), 'nor below it').toEqual(['a2', 'a1'])
  expect(line(one('a1', 'a', 1, -1), one('b1', 'b', 2)), 'who steps back does so for all').toEqual(['b1', 'a1'])
})

test('the line is by priority, then by who had less of late, then by arrival', () => {
  const [a, b, c] = [
    waiting('a', gpus(1), {user: 'ann', since: 1, limit: 10}),
    waiting('b', gpus(1), {user: 'bob', since: 2, limit: 10}),
    waiting('c', gpus(1), {user: 'cat', since: 3, limit: 10, priority: 5}),
  ]
  expect(turns([], [a, b, c])).toEqual({c: 'starts', a: 110, b: 120})
  expect(turns([], [a, b, c], {ann: 2, bob: 1.9})).toEqual({c: 'starts', b: 110, a: 120})
  expect(turns([], [a, b], {ann: 1.9, bob: 1.1}), 'less than an hour decides nothing').toEqual({a: 'starts', b: 110})
})

test('who passes says whom, and who waits says for whom', () => {
  const found = turnsOf({
    now: 100,
    running: [running('long', gpus(1), 400)],
    waiting: [waiting('wide', gpus(1, 2), {limit: 50}), waiting('small', gpus(2), {since: 1, limit: 10})],
    used: {},
  })
  expect(found).toMatchObject([
    {run: 'wide', position: 1, holders: ['long'], before: [], passes: []},
    {run: 'small', position: 2, holders: [], before: ['wide'], passes: ['wide']},
  ])
})

test('whole nodes and GPUs collide as on the nodes', () => {
  const whole = (node: string): Part[] => [{node, gpus: [], exclusive: true}]
  const bare = (node: string): Part[] => [{node, gpus: [], exclusive: false}]
  expect(collide(whole('n1'), gpus(1))).toBe(true)
  expect(collide(whole('n1'), bare('n1'))).toBe(true)
  expect(collide(bare('n1'), bare('n1'))).toBe(false)
  expect(collide(whole('n1'), whole('n2'))).toBe(false)
  expect(collide([...gpus(1), ...whole('n2')], [{node: 'alias', gpus: ['GPU-1'], exclusive: false}])).toBe(true)
})

test('what was had counts half after a week, and a sum of it fades alike', () => {
  const week = 7 * 86_400
  const hour = decayed({gpus: 2, from: 0, to: 3600}, 3600)
  expect(hour).toBeCloseTo(2, 1)
  expect(decayed({gpus: 2, from: 0, to: 3600}, 3600 + week)).toBeCloseTo(hour / 2, 6)
  expect(faded(hour, week)).toBeCloseTo(hour / 2, 6)
  expect(decayed({gpus: 4, from: 50, to: 200}, 100), 'what is to come does not count').toBeCloseTo((4 * 50) / 3600, 3)
})
