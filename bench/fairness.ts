// What passing and fair shares do to waits and to the use of GPUs, over hundreds of made-up weeks by fixed seeds.
import {collisions, simulate, workload, type Simulated} from '../test/support/queue-simulation.ts'
import {report, type Row} from './measure.ts'

const SEEDS = Number(process.env.BENCH_SEEDS ?? 200)
const HOWS = ['strict', 'passing', 'fair'] as const
const mean = (values: readonly number[]): number =>
  values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length)
const waits = ({waits: all}: Simulated): number[] => [...all.values()].flat()

const found = {strict: [] as Simulated[], passing: [] as Simulated[], fair: [] as Simulated[]}
let [late, later, passed, runs, promised] = [0, 0, 0, 0, 0]
for (let seed = 1; seed <= SEEDS; seed++) {
  const jobs = workload(seed)
  for (const how of HOWS) {
    const one = simulate(jobs, how)
    if (collisions(jobs, one).length > 0) throw new Error(`seed ${seed}: two runs had one GPU`)
    found[how].push(one)
  }
  const [strict, passing] = [found.strict.at(-1)!, found.passing.at(-1)!]
  late += [...passing.promised].filter(([run, by]) => passing.starts.get(run)! > by + 1e-6).length
  promised += passing.promised.size
  runs += jobs.length
  for (const {
    wants: {run},
  } of jobs) {
    const ahead = strict.starts.get(run)! - passing.starts.get(run)!
    if (ahead > 1e-6) passed += 1
    if (ahead < -1e-6) later += 1
  }
}
const rows: Row[] = [
  {
    what: `runs later than promised, of ${promised} in ${SEEDS} workloads`,
    value: (100 * late) / promised,
    unit: '%',
    bar: 0,
    better: 'lower',
  },
  {what: 'runs that start earlier than in strict order', value: (100 * passed) / runs, unit: '%'},
  {
    what: 'runs that start later than in strict order, as limits were longer than runs',
    value: (100 * later) / runs,
    unit: '%',
  },
  ...HOWS.flatMap((how): Row[] => [
    {what: `${how}: mean wait`, value: mean(found[how].map((one) => mean(waits(one)))), unit: 's'},
    {
      what: `${how}: mean wait of the user who waits longest`,
      value: mean(found[how].map((one) => Math.max(...[...one.waits.values()].map(mean)))),
      unit: 's',
    },
    {
      what: `${how}: GPUs in use until the last run came`,
      value: 100 * mean(found[how].map((one) => one.utilisation)),
      unit: '%',
    },
  ]),
]
report('fairness', rows, [
  '32 GPUs on 8 nodes, 120 runs a workload; a quarter want whole nodes, a tenth declare no limit, the others up to thrice what they take.',
  'strict: first come, first served; passing: with time limits; fair: also by what users had of late.',
])
