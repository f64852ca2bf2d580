// 32 nodes of a local rack: starting them, asking all of them over new and over open connections, `flexrack status`.
import {join} from 'node:path'
import {forEachNode} from '../src/lib/ssh/index.ts'
import {startLocalRack} from '../test/support/local-rack.ts'
import {medians, report, root, runProgram} from './measure.ts'
import {layRun} from '../test/support/run-folder.ts'

const NODES = 32
const rounds = Number(process.env.BENCH_ROUNDS ?? 7)
const began = performance.now()
const local = await startLocalRack({nodes: NODES})
try {
  const started = performance.now() - began
  const names = local.rack.nodes.map((node) => node.name)
  const ask = async (fleet: ReturnType<typeof local.fleet>): Promise<void> => {
    const {failed} = await forEachNode(fleet, names, (shell) => shell.run('true'))
    const [first] = failed.values()
    if (first) throw first
  }
  const open = local.fleet()
  const flexrack =
    (...words: string[]) =>
    (): void =>
      runProgram([process.execPath, join(root, 'bin/run.js'), ...words, '--rack', 'local'], local.env)
  const found = await medians(
    {
      open: () => ask(open),
      fresh: async () => {
        const fleet = local.fleet()
        await ask(fleet)
        await fleet.close()
      },
      status: flexrack('status'),
      probe: flexrack('rack', 'probe'),
    },
    rounds,
  )
  for (const index of names.keys()) layRun(local.home, 'bench-aaaaa', names, index, 1)
  const later = await medians({status: flexrack('status')}, rounds)
  report(
    'status-32',
    [
      {what: `start ${NODES} nodes from nothing`, value: started, unit: 'ms'},
      {what: `a command on ${NODES} nodes, connections open`, value: found.open, unit: 'ms'},
      {what: `a command on ${NODES} nodes, connecting first`, value: found.fresh, unit: 'ms'},
      {what: `\`flexrack status\` of ${NODES} warm nodes`, value: found.status, unit: 'ms', bar: 1500},
      {what: 'the same where every node keeps a run', value: later.status, unit: 'ms', bar: 1500},
      {what: `\`flexrack rack probe\` of ${NODES} nodes`, value: found.probe, unit: 'ms'},
    ],
    ['Client, all SSH servers and all commands share this one machine.'],
  )
} finally {
  await local.stop()
}
