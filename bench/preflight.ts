// What a preflight costs: of two nodes, which every small training pays, and of 64, phase by phase. All nodes are on
// this one machine.
import {openHost} from '../src/lib/host/index.ts'
import {runPreflight, type PreflightTimes} from '../src/lib/preflight/index.ts'
import {startTrainRack} from '../test/support/train.ts'
import {median, report, type Row} from './measure.ts'

const MANY = 64
/** Milliseconds: the quickstart must not notice it; and what is asked of 64 nodes. */
const FEW_BAR = 500
const MANY_BAR = 10_000
const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const setup = await startTrainRack(MANY)
try {
  const context = setup.rack.context()
  const fleet = setup.rack.fleet()
  const hosts = await Promise.all(setup.rack.rack.nodes.map((node) => openHost(fleet, node, context)))
  const measure = async (count: number, onOneMachine: boolean): Promise<PreflightTimes & {pairs: number}> => {
    const taken: (PreflightTimes & {pairs: number})[] = []
    for (let round = -1; round < rounds; round++) {
      const nodes = hosts.slice(0, count).map((host) => ({host, address: '127.0.0.1'}))
      const result = await runPreflight({nodes, skip: [], processes: 1, onOneMachine}, context)
      const lost = result.ways.filter((way) => way.error !== undefined).length
      const unmeasured = result.findings.find((one) => one.message.includes('could not be measured'))
      if (lost > 0 || unmeasured) throw new Error(`${lost} ways failed; ${unmeasured?.message ?? ''}`)
      if (round >= 0) taken.push({...result.times, pairs: result.pairs.measured})
    }
    const keys = Object.keys(taken[0] as object) as (keyof (typeof taken)[0])[]
    return Object.fromEntries(
      keys.map((key) => [key, median(taken.map((one) => one[key]))]),
    ) as unknown as PreflightTimes & {pairs: number}
  }
  const few = await measure(2, false)
  const many = await measure(MANY, true)
  const ms = (what: string, value: number, bar?: number): Row => ({
    what,
    value,
    unit: 'ms',
    ...(bar !== undefined && {bar, better: 'lower' as const}),
  })
  report(
    'preflight',
    [
      ms('2 nodes, as in the quickstart', few.total, FEW_BAR),
      ms(`${MANY} nodes, with bandwidth`, many.total, MANY_BAR),
      ms('of that: until every node listens', many.open),
      ms(`of that: ${MANY * (MANY - 1)} ways and ${MANY - 1} to the rendezvous`, many.reach),
      ms(`of that: bandwidth of ${many.pairs} of ${(MANY * (MANY - 1)) / 2} pairs, both directions`, many.bandwidth),
      ms('of that: waiting for what the nodes measured of themselves', many.facts),
    ],
    [
      `All ${MANY} nodes share this machine's cores, as real ones would not: processes start one after the other, and transfers take turns.`,
    ],
  )
} finally {
  await setup.stop()
}
