// Bringing 10,000 files to a node: for the first time, unchanged, with one change; and `workspace up` where all is there already.
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {startLocalRack} from '../test/support/local-rack.ts'
import {medians, report, root, runProgram} from './measure.ts'

const FILES = 10_000
const FOLDERS = 100
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)

const local = await startLocalRack({nodes: 1})
const project = await mkdtemp(join(tmpdir(), 'flexrack-bench-'))
const workspace = (verb: string): void => runProgram([process.execPath, join(root, 'bin/run.js'), 'workspace', verb, '--rack', 'local', '--project', project], local.env)
try {
  await layProject()
  const began = performance.now()
  workspace('sync')
  const first = performance.now() - began
  workspace('up')
  let change = 0
  const found = await medians(
    {
      same: () => workspace('sync'),
      one: async () => {
        await writeFile(join(project, 'folder-7/file-7.py'), `changed = ${(change += 1)}\n`)
        workspace('sync')
      },
      up: () => workspace('up'),
      node: () => runProgram([process.execPath, '-e', '0']),
    },
    rounds,
  )
  report('sync', [
    {what: `${FILES} new files (10 MB)`, value: first, unit: 'ms'},
    {what: `${FILES} unchanged files, whole command`, value: found.same, unit: 'ms', bar: 1000},
    {what: 'one changed file of them, whole command', value: found.one, unit: 'ms'},
    {what: '`workspace up` again, nothing changed', value: found.up, unit: 'ms', bar: 2000},
    {what: 'bare `node -e 0`, which is in each of them', value: found.node, unit: 'ms'},
  ])
} finally {
  await rm(project, {recursive: true, force: true})
  await local.stop()
}

async function layProject(): Promise<void> {
  await writeFile(join(project, 'flexrack.yaml'), 'name: bench\n')
  const line = 'x = 1  # as long as a line of code is on the average, more or less\n'
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    await mkdir(join(project, `folder-${folder}`))
    const names = Array.from({length: FILES / FOLDERS}, (_, file) => join(project, `folder-${folder}/file-${file}.py`))
    await Promise.all(names.map((name) => writeFile(name, `# ${name}\n${line.repeat(15)}`)))
  }
}
