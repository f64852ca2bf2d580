// How long flexrack takes to start, above what Node itself takes. Bars: product table, first line.
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {medians, report, root, runProgram} from './measure.ts'

const home = mkdtempSync(join(tmpdir(), 'flexrack-bench-'))
const env = {...process.env, FLEXRACK_HOME: home}
const flexrack =
  (...args: string[]) =>
  (): void =>
    runProgram([process.execPath, join(root, 'bin/run.js'), ...args], env)
try {
  const found = await medians(
    {
      node: () => runProgram([process.execPath, '-e', '0'], env),
      version: flexrack('--version'),
      help: flexrack('--help'),
      status: flexrack('local', 'status'),
      racks: flexrack('rack', 'list'),
    },
    Number(process.env.BENCH_ROUNDS ?? 21),
  )
  report('startup', [
    {what: 'bare `node -e 0`', value: found.node, unit: 'ms'},
    {what: '`flexrack --version` above it', value: found.version - found.node, unit: 'ms', bar: 80},
    {what: '`flexrack --help` above it', value: found.help - found.node, unit: 'ms', bar: 150},
    {what: '`flexrack local status` above it', value: found.status - found.node, unit: 'ms', bar: 150},
    {
      what: '`flexrack rack list` above it, which reads files by their schema',
      value: found.racks - found.node,
      unit: 'ms',
      bar: 150,
    },
  ])
} finally {
  rmSync(home, {recursive: true})
}
