// 32 nodes of a local rack: starting them, asking all of them over new and over open connections, `flexrack status`.
import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {forEachNode} from '../src/lib/ssh/index.ts'
import {startLocalRack} from '../test/support/local-rack.ts'
import {medians, report, root, runProgram, type Row} from './measure.ts'

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
  const cases: Record<string, () => unknown> = {
    open: () => ask(open),
    fresh: async () => {
      const fleet = local.fleet()
      await ask(fleet)
      await fleet.close()
    },
  }
  const hasStatus = existsSync(join(root, 'src/commands/status.ts'))
  if (hasStatus) cases.status = () => runProgram([process.execPath, join(root, 'bin/run.js'), 'status', '--rack', 'local'], local.env)
  const found = await medians(cases, rounds)
  const rows: Row[] = [
    {what: `start ${NODES} nodes from nothing`, value: started, unit: 'ms'},
    {what: `a command on ${NODES} nodes, connections open`, value: found.open as number, unit: 'ms'},
    {what: `a command on ${NODES} nodes, connecting first`, value: found.fresh as number, unit: 'ms'},
  ]
  if (hasStatus) rows.push({what: `\`flexrack status\` of ${NODES} warm nodes`, value: found.status as number, unit: 'ms', bar: 1500})
  report('status-32', rows, [
    'Client, all SSH servers and all commands share this one machine.',
    ...(hasStatus ? [] : ['`flexrack status` is not there yet; what it must do is at least the third line.']),
  ])
} finally {
  await local.stop()
}
