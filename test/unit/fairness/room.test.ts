import {describe, expect, test} from 'vitest'
import {roomFor, SLICE_SECONDS, yieldsTo, type Preemptor, type Holder} from '../../../src/lib/fairness/index.ts'

const holder = (run: string, more: Partial<Holder> = {}): Holder => ({
  run,
  parts: [{node: 'n1', gpus: [run], exclusive: false}],
  ends: null,
  user: 'ann',
  priority: 0,
  gpus: 1,
  preemptible: true,
  from: 0,
  saved: null,
  ...more,
})

describe('who makes room', () => {
  const now = SLICE_SECONDS
  const to = (one: Holder, preemptor: Preemptor, used = {}): boolean => yieldsTo(one, preemptor, {now, used})

  test('a preemptible run, for a higher priority; never for a lower one', () => {
    expect(to(holder('a'), {user: 'ann', priority: 1})).toBe(true)
    expect(to(holder('a', {preemptible: false}), {user: 'bob', priority: 100})).toBe(false)
    expect(to(holder('a', {priority: 2}), {user: 'bob', priority: 1}, {ann: 50})).toBe(false)
  })

  test('with the same priority for a user who had a whole GPU hour less, once it has had its slice', () => {
    const bob = {user: 'bob', priority: 0}
    expect(to(holder('a'), bob, {ann: 5.2, bob: 4.9})).toBe(true)
    expect(to(holder('a'), bob, {ann: 5.9, bob: 5.1}), 'the line does not tell them apart').toBe(false)
    expect(to(holder('a'), bob, {ann: 4, bob: 5})).toBe(false)
    expect(to(holder('a', {from: 1}), bob, {ann: 5, bob: 0}), 'it has only just begun').toBe(false)
    expect(to(holder('a'), {user: 'ann', priority: 0}, {ann: 5})).toBe(false)
  })

  test("between projects a project's own priorities count for nothing, and the rack's do", () => {
    const apart = holder('a', {project: 'a'})
    expect(to(apart, {user: 'bob', priority: 100, project: 'b'})).toBe(false)
    expect(to(apart, {user: 'bob', priority: 1, project: 'b', rack: true})).toBe(true)
    expect(to(apart, {user: 'bob', priority: 1, project: 'a'})).toBe(true)
    expect(to(holder('a', {project: 'a', priority: -1}), {user: 'bob', priority: 0, project: 'b'})).toBe(true)
    const proud = holder('a', {project: 'a', priority: 50})
    expect(to(proud, {user: 'bob', priority: 0, project: 'b'}, {ann: 9}), 'it keeps its turn no longer').toBe(true)
  })

  test('lower priorities first, then whose newest checkpoint loses less', () => {
    const runs = [
      holder('late', {saved: 90}),
      holder('old', {saved: 10}),
      holder('wide', {saved: 80, gpus: 4}),
      holder('low', {priority: -1}),
      holder('new', {from: 95}),
    ]
    const room = roomFor({user: 'bob', priority: 9}, [...runs, holder('firm', {preemptible: false})], {
      now: 100,
      used: {},
    })
    expect(room.map((one) => [one.run, one.lost])).toEqual([
      ['low', 100],
      ['new', 5],
      ['late', 10],
      ['wide', 80],
      ['old', 90],
    ])
    const others = [
      holder('proud', {project: 'a', priority: 50, saved: 90}),
      holder('plain', {project: 'a', saved: 10}),
    ]
    const first = (project: string): string | undefined =>
      roomFor({user: 'bob', priority: 100, project, rack: true}, others, {now: 100, used: {}})[0]?.run
    expect([first('a'), first('b')], 'to another project its priority is nothing').toEqual(['plain', 'proud'])
  })
})
