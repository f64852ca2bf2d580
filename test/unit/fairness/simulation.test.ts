import {expect, test} from 'vitest'
import {collide} from '../../../src/lib/fairness/index.ts'
import {collisions, gpusOf, simulate, workload, type Job} from '../../support/queue-simulation.ts'
import {CHECKPOINT_SECONDS, simulateRoom, type SimulatedRoom, type Span} from '../../support/room-simulation.ts'

const SEEDS = Array.from({length: 10}, (_, seed) => seed + 1)

test('nobody starts later than by the time that strict order had promised, whoever passes', () => {
  let [told, passed] = [0, 0]
  for (const seed of SEEDS) {
    const jobs = workload(seed, {jobs: 60})
    const passing = simulate(jobs, 'passing')
    const strict = simulate(jobs, 'strict')
    expect(collisions(jobs, passing)).toEqual([])
    const late = [...passing.promised].filter(([run, by]) => passing.starts.get(run)! > by + 1e-6)
    expect(late, `seed ${seed}`).toEqual([])
    told += passing.promised.size
    passed += jobs.filter(({wants: {run}}) => passing.starts.get(run)! < strict.starts.get(run)!).length
  }
  expect(told, 'most declare a limit').toBeGreaterThan(200)
  expect(passed, 'and many start earlier').toBeGreaterThan(50)
})

test('where runs take as long as they declared, nobody starts later than in strict order itself', () => {
  for (const seed of SEEDS) {
    const jobs = workload(seed, {jobs: 60, exact: true})
    const [passing, strict] = [simulate(jobs, 'passing'), simulate(jobs, 'strict')]
    const late = jobs.filter(({wants: {run}}) => passing.starts.get(run)! > strict.starts.get(run)! + 1e-6)
    expect(
      late.map((one) => one.wants.run),
      `seed ${seed}`,
    ).toEqual([])
  }
})

test('priorities and shares start every run once, and never two on one GPU', () => {
  for (const seed of SEEDS.slice(0, 3)) {
    const jobs = workload(seed, {jobs: 60, priorities: true})
    const fair = simulate(jobs, 'fair')
    expect(fair.starts.size).toBe(jobs.length)
    expect(collisions(jobs, fair)).toEqual([])
  }
})

test('who makes room loses less than a checkpoint each time, ends for somebody who begins then, and is done in the end', () => {
  let [made, saved] = [0, 0]
  for (const seed of SEEDS) {
    const jobs = workload(seed, {jobs: 60, priorities: true})
    const byRun = new Map(jobs.map((one) => [one.wants.run, one]))
    const preemptible = new Set(jobs.filter((_one, at) => at % 2 === 0).map((one) => one.wants.run))
    const [with_, without] = [simulateRoom(jobs, preemptible, true), simulateRoom(jobs, preemptible, false)]
    expect(without.spans.filter((one) => one.room !== undefined)).toEqual([])
    expect(spansThatCollide(jobs, with_.spans)).toEqual([])
    const gave = with_.spans.filter((one) => one.room !== undefined)
    expect(
      gave.filter((one) => !preemptible.has(one.run)),
      'nobody else is ended',
    ).toEqual([])
    for (const one of gave)
      expect(
        with_.spans.some((other) => other.run === one.room && other.from === one.to),
        `seed ${seed}`,
      ).toBe(true)
    const most = gave.reduce((sum, {run}) => sum + gpusOf(byRun.get(run)!.wants) * CHECKPOINT_SECONDS, 0)
    expect(with_.lost).toBeLessThanOrEqual(most)
    for (const {wants, takes} of jobs) {
      const worked = with_.spans.filter((one) => one.run === wants.run).reduce((sum, {from, to}) => sum + to - from, 0)
      expect(worked).toBeGreaterThanOrEqual(takes - 1e-6)
    }
    made += gave.length
    const waits = ({spans}: SimulatedRoom): number =>
      jobs
        .filter((one) => one.wants.priority === 2)
        .reduce(
          (sum, {wants}) =>
            sum + Math.min(...spans.filter((one) => one.run === wants.run).map((one) => one.from)) - wants.since,
          0,
        )
    saved += waits(without) - waits(with_)
  }
  expect(made, 'it happens').toBeGreaterThan(50)
  expect(saved, 'the highest priority waits less').toBeGreaterThan(0)
})

function spansThatCollide(jobs: readonly Job[], spans: readonly Span[]): string[] {
  const wants = new Map(jobs.map((one) => [one.wants.run, one.wants.parts]))
  return spans.flatMap((one, at) =>
    spans
      .slice(at + 1)
      .filter(
        (other) => one.from < other.to && other.from < one.to && collide(wants.get(one.run)!, wants.get(other.run)!),
      )
      .map((other) => `${one.run} ${other.run}`),
  )
}
