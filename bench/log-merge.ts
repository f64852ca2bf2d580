// How fast the logs of a run's ranks are merged here, over two nodes and eight ranks, and whether a cut link loses or
// repeats anything.
import {writeFileSync} from 'node:fs'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {followRun, type FoundRun, type RankLine} from '../src/lib/runs/index.ts'
import {openFleet} from '../src/lib/ssh/index.ts'
import {startLocalRack} from '../test/support/local-rack.ts'
import {startTcpRelay} from '../test/support/tcp-relay.ts'
import {medians, report} from './measure.ts'
import {layRun} from '../test/support/run-folder.ts'

const RUN = 'bench-aaaaa'
const RANKS_A_NODE = 4
const LINES = 25_000
const CUTS = 3
const total = 2 * RANKS_A_NODE * LINES
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)

const local = await startLocalRack({nodes: 2})
const [near] = local.rack.nodes
const names = local.rack.nodes.map((node) => node.name)
if (!near) throw new Error('the local rack has no nodes')
const relay = await startTcpRelay(near.port as number)
try {
  for (const index of names.keys()) writeLogs(index)
  const cutRack = {
    ...local.rack,
    nodes: local.rack.nodes.map((node) =>
      node === near ? {...node, port: relay.port, knownHosts: join(local.home, 'relayed')} : node,
    ),
  }
  const known = await readFile(near.knownHosts as string, 'utf8')
  await writeFile(join(local.home, 'relayed'), known.replace(`:${near.port} `, `:${relay.port} `))
  const found = await medians({whole: () => readAll(local.rack, 0), cut: () => readAll(cutRack, CUTS)}, rounds)
  report(
    'log-merge',
    [
      {
        what: `${total} lines of ${2 * RANKS_A_NODE} ranks on 2 nodes, connecting included`,
        value: (total / found.whole) * 1000,
        unit: 'lines/s',
        bar: 10_000,
        better: 'higher',
      },
      {
        what: `the same with the link of one node cut ${CUTS} times, nothing lost or repeated`,
        value: (total / found.cut) * 1000,
        unit: 'lines/s',
      },
    ],
    ['Order in each rank, and the number of lines, are checked in every run. Both ends share this one machine.'],
  )
} finally {
  await relay.stop()
  await local.stop()
}

async function readAll(rack: typeof local.rack, cuts: number): Promise<void> {
  const fleet = openFleet(rack.nodes, local.context())
  const next = new Map<number, number>()
  /** Lines that were shown before their end, because the link was gone for a while. */
  const begun = new Map<number, string>()
  let wrong: string | undefined
  let seen = 0
  let done = 0
  const onLines = (lines: RankLine[]): void => {
    for (const {rank, text, partial} of lines) {
      const whole = (begun.get(rank) ?? '') + text
      begun.set(rank, partial ? whole : '')
      if (partial) continue
      const expected = next.get(rank) ?? 0
      if (!whole.startsWith(`step ${expected} of`) || !whole.endsWith(' 0.001'))
        wrong ??= `rank ${rank}: ${JSON.stringify(whole)} came where step ${expected} should`
      next.set(rank, expected + 1)
      seen += 1
    }
    if (done < cuts && seen > ((done + 1) * total) / (cuts + 2)) {
      done += 1
      relay.cut()
    }
  }
  const run = {run: RUN, nodes: rack.nodes.map((node, index) => ({node: node.name, index, attempt: 1}))} as FoundRun
  await followRun({rack, fleet}, run, {follow: true, onLines}, local.context())
  await fleet.close()
  if (wrong) throw new Error(wrong)
  if (seen !== total) throw new Error(`${seen} lines came of ${total}`)
}

function writeLogs(index: number): void {
  const folder = layRun(local.home, RUN, names, index, RANKS_A_NODE)
  for (let rank = 0; rank < RANKS_A_NODE; rank += 1) {
    const lines = Array.from(
      {length: LINES},
      (_, step) => `step ${step} of ${LINES}: loss ${(1 / (step + 1)).toFixed(6)}, learning rate 0.001\n`,
    )
    writeFileSync(join(folder, `attempts/1/rank-${index * RANKS_A_NODE + rank}.log`), lines.join(''))
  }
}
