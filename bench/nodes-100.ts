// 100 nodes on one machine: probe, sync and launch work, and a node among many costs what one among few does.
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {openHost} from '../src/lib/host/index.ts'
import type {Manifest} from '../src/lib/manifest/index.ts'
import {probeNodes} from '../src/lib/nodes/index.ts'
import {parseSkip} from '../src/lib/preflight/index.ts'
import type {Rack} from '../src/lib/rack/index.ts'
import {upWorkspace} from '../src/lib/workspace/index.ts'
import {startTrainRack} from '../test/support/train.ts'
import {medians, report, type Row} from './measure.ts'

const SIZES = [25, 100]
const [few = 1, many = 1] = SIZES
/** A node among many may cost this much more than among few: what is shared (the client, the leader) must not grow with the square. */
const FLAT = 1.5
const rounds = Number(process.env.BENCH_ROUNDS ?? 1)
const setup = await startTrainRack(many)
const folder = mkdtempSync(join(tmpdir(), 'flexrack-bench-'))
try {
  const context = setup.rack.context()
  const fleet = setup.rack.fleet()
  const firstOf = (size: number): Rack => ({...setup.rack.rack, nodes: setup.rack.rack.nodes.slice(0, size)})
  writeFileSync(join(folder, 'flexrack.yaml'), 'name: bench\nrack: local\n')
  const manifest: Manifest = {path: join(folder, 'flexrack.yaml'), folder, name: 'bench', workspace: {exclude: [], forward: [], env: {}}, tracking: {experiment: 'bench'}, endpoints: {}}
  let turn = 0
  const cases: Record<string, () => Promise<unknown>> = {}
  for (const size of SIZES) {
    const rack = firstOf(size)
    cases[`probe ${size}`] = async () => {
      const failed = (await probeNodes(rack.nodes, fleet, context)).find((one) => !one.ok)
      if (failed) throw new Error(`${failed.node}: ${failed.message}`)
    }
    cases[`sync ${size}`] = async () => {
      writeFileSync(join(folder, 'changed.py'), `value = ${++turn}\n`)
      await upWorkspace(await Promise.all(rack.nodes.map((node) => openHost(fleet, node, context))), manifest, context, {codeOnly: true})
    }
    cases[`launch ${size}`] = async () => {
      const {trained, lines} = await setup.train('import os\nprint(os.environ["RANK"])\n', {rack, fleet, spec: {nodes: size}, choice: {preflight: {skip: parseSkip('all'), force: false}}})
      const ranks = new Set(lines.map((line) => line.text))
      if (trained.status !== 'finished' || ranks.size !== size) throw new Error(`${trained.status}, ${ranks.size} of ${size} ranks: ${JSON.stringify(trained.cause)}`)
    }
  }
  const found = await medians(cases, rounds)
  const rows = Object.entries({probe: 'probe', sync: 'sync of one changed file', launch: 'a run of one rank a node, from sync to its last record'}).flatMap(([name, what]): Row[] => {
    const [small, large] = [found[`${name} ${few}`] as number, found[`${name} ${many}`] as number]
    return [
      {what: `${what}: ${few} nodes`, value: small / few, unit: 'ms a node'},
      {what: `${what}: ${many} nodes`, value: large / many, unit: 'ms a node', bar: Math.round((FLAT * small) / few), better: 'lower'},
    ]
  })
  report('nodes-100', rows, [`Bar: flat, that is at most ${FLAT} times the line before. All nodes share this one machine, so the time of all grows with their number. The launch is without its preflight, which is of pairs (bench/preflight.ts).`])
} finally {
  await setup.stop()
  rmSync(folder, {recursive: true, force: true})
}
