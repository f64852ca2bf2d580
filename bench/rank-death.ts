// How long it takes from the death of a rank until no process of the run is alive on any node, and until the command
// knows why.
import {startTrainRack} from '../test/support/train.ts'
import {openRuns} from '../src/lib/runs/index.ts'
import {report} from './measure.ts'

const NODES = 4
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
/** Ranks that ignore SIGTERM are the hard case: all of the grace passes. */
const SCRIPT = `import os, signal, subprocess, sys, time
if "deaf" in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["setsid", "sleep", "600"])
time.sleep(1)
if os.environ["RANK"] == "${NODES - 1}": os.kill(os.getpid(), signal.SIGKILL)
time.sleep(600)
`

const setup = await startTrainRack(NODES)
try {
  const context = setup.rack.context()
  const measured: Record<string, {gone: number[]; reported: number[]}> = {}
  for (const [name, args] of Object.entries({polite: [], deaf: ['deaf']})) {
    const times = (measured[name] = {gone: [] as number[], reported: [] as number[]})
    for (let round = 0; round < rounds; round++) {
      const {trained} = await setup.train(SCRIPT, {choice: {args}})
      const reported = Date.now()
      if (trained.cause?.rank !== NODES - 1 || (await setup.alive(trained.run)).length > 0)
        throw new Error(`not as expected: ${JSON.stringify(trained.cause)}`)
      const runs = openRuns({rack: setup.rack.rack, fleet: setup.rack.fleet()}, context)
      const {attempts} = await runs.show(trained.run)
      await runs.close()
      times.gone.push(((attempts[0]?.ended ?? Infinity) - trained.cause.at) * 1000)
      times.reported.push(reported - trained.cause.at * 1000)
    }
  }
  const worst = (values: number[]): number => Math.max(...values)
  report('rank-death', [
    {
      what: `SIGKILL of one rank of ${NODES} nodes: nothing of the run alive anywhere (worst of ${rounds})`,
      value: worst(measured.polite?.gone ?? []),
      unit: 'ms',
      bar: 2000,
    },
    {what: 'the same where the ranks ignore SIGTERM', value: worst(measured.deaf?.gone ?? []), unit: 'ms', bar: 2000},
    {
      what: 'until the command has the first cause and has ended',
      value: worst(measured.polite?.reported ?? []),
      unit: 'ms',
    },
  ])
} finally {
  await setup.stop()
}
