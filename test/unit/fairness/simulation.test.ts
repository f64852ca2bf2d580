import {expect, test} from 'vitest'
import {collisions, simulate, workload} from '../../support/queue-simulation.ts'

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
