import {expect, test} from 'vitest'
import {decide, newMemory, type Bounds, type Memory} from '../../../../../src/lib/head/service/scaling/decide.ts'

const BOUNDS: Bounds = {min: 0, max: 8, target: 2, idle: 120, down: 300}
const TICK = 500

/** A head that looks twice a second, on a clock of its own. */
class Simulation {
  now = 1_000_000
  memory: Memory = newMemory(this.now)
  changes: {at: number; count: number; why: string | undefined}[] = []
  readonly bounds: Bounds
  count: number

  constructor(count: number, bounds: Partial<Bounds> = {}) {
    this.count = count
    this.bounds = {...BOUNDS, ...bounds}
  }

  /** So many seconds of a load. */
  run(seconds: number, load: number | ((at: number) => number)): this {
    const end = this.now + seconds * 1000
    while (this.now < end) {
      const from = this.now
      this.now += TICK
      const value = typeof load === 'number' ? load : load(from)
      const {memory, count, why} = decide(
        this.memory,
        {from, to: this.now, load: value, isBusy: value > 0},
        this.count,
        this.bounds,
      )
      this.memory = memory
      if (count !== this.count) this.changes.push({at: this.now, count, why})
      this.count = count
    }
    return this
  }
}

/** Seeded: the same arrivals each time (mulberry32). */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test('nobody asks: none is started, and what runs ends after `idle` and not sooner', () => {
  expect(new Simulation(0).run(600, 0).changes).toEqual([])
  const idle = new Simulation(1).run(30, 1).run(119, 0)
  expect(idle.count).toBe(1)
  expect(idle.run(2, 0)).toMatchObject({count: 0})
  expect(idle.changes.at(-1)?.why).toBe('no request for 120 s')
})

test('with a minimum it never goes below, and what has none is brought to it', () => {
  expect(new Simulation(2, {min: 2}).run(2000, 0).count).toBe(2)
  expect(new Simulation(0, {min: 2}).run(1, 0).count).toBe(2)
})

test('the first request wakes it at once, many that wait wake as many as they need', () => {
  expect(new Simulation(0).run(0.5, 1).count).toBe(1)
  expect(new Simulation(0).run(0.5, 7).count).toBe(4)
  expect(new Simulation(0).run(0.5, 500).count).toBe(8)
})

test('a request too short to be seen under way keeps it awake', () => {
  const busy = new Simulation(1)
  for (let minute = 0; minute < 10; minute++) busy.run(60, (at) => (at % 60_000 === 0 ? 0.001 : 0))
  expect(busy.count).toBe(1)
})

test('a step to four times the load is answered within the short window, in one go', () => {
  const step = new Simulation(2).run(600, 3.9)
  expect(step.count).toBe(2)
  step.run(6.5, 16)
  expect(step.count).toBe(8)
  expect(step.changes.every(({count}, index, all) => index === 0 || count > all[index - 1]!.count)).toBe(true)
})

test('a step below twice the servers waits for the long window and then stays', () => {
  const step = new Simulation(2).run(600, 3.9).run(600, 5.5)
  expect(step.changes.map(({count}) => count)).toEqual([3])
  expect(step.changes[0]!.at - 1_600_000).toBeGreaterThan(1000)
  expect(step.changes[0]!.at - 1_600_000).toBeLessThan(60_000)
})

test('a burst of a second that repeats each minute brings more once, and keeps as many as the next one asks for', () => {
  const bursts = new Simulation(2).run(3600, (at) => (at % 60_000 < 1000 ? 30 : 2))
  expect(bursts.changes.map(({count}) => count)).toEqual([4, 3])
})

test('it shrinks only when fewer would have done for all of `down`, and to what was needed most in it', () => {
  const drop = new Simulation(1).run(120, 12)
  expect(drop.count).toBe(6)
  const before = drop.changes.length
  drop.run(290, 4)
  expect(drop.changes).toHaveLength(before)
  // the minute's average passes through all numbers on its way down, and the look back follows it
  drop.run(90, 4)
  expect(drop.count).toBe(2)
  drop.run(3000, 4)
  expect(drop.count).toBe(2)
})

test('a load that swings faster than `down` never shrinks it', () => {
  const swing = new Simulation(1).run(3600, (at) => (at % 240_000 < 120_000 ? 10 : 1))
  expect(swing.changes.map(({count}) => count)).toEqual(swing.changes.map(({count}) => count).toSorted())
  expect(swing.count).toBe(5)
})

test('Poisson arrivals of a steady rate settle: not more than a change in ten minutes, and enough servers', () => {
  for (const seed of [1, 2, 3]) {
    const next = random(seed)
    const ends: number[] = []
    let arrival = 0
    // 6 requests a second of half a second each: 3 at once on average
    const steady = new Simulation(1, {target: 1}).run(3600, (at) => {
      if (arrival === 0) arrival = at
      while (arrival < at + TICK) {
        ends.push(arrival + 500)
        arrival += -Math.log(1 - next()) * (1000 / 6)
      }
      while (ends.length > 0 && ends[0]! < at) ends.shift()
      return ends.length
    })
    const late = steady.changes.filter(({at}) => at > 1_000_000 + 600_000)
    expect(late.length).toBeLessThanOrEqual(5)
    expect(steady.count).toBeGreaterThanOrEqual(3)
    expect(steady.count).toBeLessThanOrEqual(8)
  }
})

test('sparse Poisson arrivals with gaps around `idle` start a server once a request that found none', () => {
  const next = random(9)
  let arrival = 1_000_000
  let woken = 0
  const sparse = new Simulation(0, {idle: 60})
  const served = sparse.run(9000, (at) => {
    if (arrival >= at + TICK) return 0
    if (sparse.count === 0) woken++
    while (arrival < at + TICK) arrival += -Math.log(1 - next()) * 60_000
    return 0.2
  })
  expect(served.changes.filter(({count}) => count === 1)).toHaveLength(woken)
  expect(woken).toBeGreaterThan(20)
})

test('bounds that were made narrower hold at once', () => {
  const high = new Simulation(8, {max: 3}).run(1, 16)
  expect(high).toMatchObject({count: 3})
  expect(high.changes[0]?.why).toBe('3 at most')
})

test('a head that just started does not shrink before it has seen `down` seconds', () => {
  expect(new Simulation(6).run(299, 0.5).count).toBe(6)
  expect(new Simulation(6).run(301, 0.5).count).toBe(1)
})
