// A project of 10,000 files on a node: the first sync, nothing changed, one file changed, and `workspace up` again in
// whole.
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout} from 'node:timers/promises'
import {openHost} from '../src/lib/host/index.ts'
import type {Manifest} from '../src/lib/manifest/index.ts'
import {planWorkspace, upWorkspace} from '../src/lib/workspace/index.ts'
import {startLocalRack} from '../test/support/local-rack.ts'
import {medians, report, root, runProgram} from './measure.ts'

const FILES = 10_000
const rounds = Number(process.env.BENCH_ROUNDS ?? 7)
const folder = mkdtempSync(join(tmpdir(), 'flexrack-bench-'))
const extra: string[] = []
const rack = await startLocalRack({nodes: 1})
try {
  for (let index = 0; index < FILES; index++) {
    const inner = join(folder, 'pkg', String(index % 100), String(index % 7))
    mkdirSync(inner, {recursive: true})
    writeFileSync(join(inner, `module_${index}.py`), `value = ${index}\n`.repeat(1 + (index % 60)))
  }
  writeFileSync(join(folder, '.gitignore'), '*.pt\n__pycache__/\n/data/\n')
  writeFileSync(join(folder, 'flexrack.yaml'), 'name: bench\nrack: local\n')
  const manifest: Manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'bench',
    workspace: {exclude: [], forward: [], env: {}},
    tracking: {experiment: 'bench'},
    endpoints: {},
  }
  const context = rack.context()
  const host = await openHost(rack.fleet(), rack.rack.nodes[0] as (typeof rack.rack.nodes)[0], context)
  await setTimeout(2500) // files written a moment ago are read again to be sure
  const began = performance.now()
  await upWorkspace([host], manifest, context)
  const first = performance.now() - began
  if ((await planWorkspace([host], manifest, context)).plan.steps.length > 0)
    throw new Error('there should be nothing to do')

  const lone = {...manifest, folder: mkdtempSync(join(tmpdir(), 'flexrack-bench-')), name: 'lone'}
  extra.push(lone.folder)
  writeFileSync(join(lone.folder, 'flexrack.yaml'), 'name: lone\nrack: local\n')

  let turn = 0
  const change = (where: string): void => writeFileSync(where, `value = ${++turn}\n`)
  const found = await medians(
    {
      same: () => upWorkspace([host], manifest, context, {codeOnly: true}),
      one: () => {
        change(join(folder, 'pkg', 'changed.py'))
        return upWorkspace([host], manifest, context, {codeOnly: true})
      },
      lone: () => {
        change(join(lone.folder, 'changed.py'))
        return upWorkspace([host], lone, context, {codeOnly: true})
      },
      command: () =>
        runProgram(
          [process.execPath, join(root, 'bin/run.js'), 'workspace', 'up', '--project', folder, '--rack', 'local'],
          rack.env,
        ),
    },
    rounds,
  )
  report(
    'sync',
    [
      {what: `first sync of ${FILES} files, and an empty environment`, value: first, unit: 'ms'},
      {what: `sync of ${FILES} unchanged files`, value: found.same, unit: 'ms', bar: 1000},
      {what: 'sync of one changed file that is the whole project', value: found.lone, unit: 'ms'},
      {
        what: `sync of one changed file among ${FILES}, above that of ${FILES} unchanged ones (bar: the line before)`,
        value: found.one - found.same,
        unit: 'ms',
        bar: Math.round(found.lone),
      },
      {
        what: `\`flexrack workspace up\` again, ${FILES} files, from start to end of the program`,
        value: found.command,
        unit: 'ms',
        bar: 2000,
      },
    ],
    [
      'Client and node share this one machine; the node is one of a local rack, the connection is open except for the whole program.',
    ],
  )
} finally {
  await rack.stop()
  for (const one of [folder, ...extra]) rmSync(one, {recursive: true, force: true})
}
