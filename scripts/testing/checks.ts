import {join} from 'node:path'
import {noCounts, type Counts} from './counts.ts'
import {layouts, pythonTools} from './python-tools.ts'
import {bin, root, run} from './run.ts'

/** Types, lint, layers and generated files, of both languages: each is one test that passes or fails. */
export async function runChecks(words: string[]): Promise<Counts> {
  const tools = await pythonTools()
  const checks: [string, string, string[]][] = [
    ['types', bin('tsc'), ['-p', 'tsconfig.json']],
    ['lint and layers', process.execPath, ['scripts/lint.ts']],
    ['types of the protocol are current', process.execPath, ['scripts/protocol.ts', '--check']],
    ['generated documents are current', process.execPath, ['scripts/docs.ts', '--check']],
    ['layers of the node program', 'env', ['PYTHONPATH=node', join(tools, 'lint-imports'), '--no-cache', '--no-logo']],
    ['lint of the node program', join(tools, 'ruff'), ['check', '--no-cache', 'node', 'test/node']],
    ['types of the node program', join(tools, 'mypy'), ['--cache-dir', join(root, 'node_modules/.cache/mypy')]],
    ['a field that changes on one side fails both type checkers', process.execPath, ['scripts/testing/contract.ts']],
    ...layouts(tools, true).map(({title, command, args}): [string, string, string[]] => [title, command, args]),
    ['lock files belong to their inputs', process.execPath, ['scripts/locks.ts', '--check']],
  ]
  const counts = noCounts()
  for (const [title, command, args] of checks) {
    if (words.length > 0 && !words.some((word) => title.includes(word))) continue
    const {status} = await run(command, args)
    console.log(`${status === 0 ? ' ✓' : ' ✗'} ${title}`)
    counts[status === 0 ? 'passed' : 'failed']++
    if (status !== 0) counts.trouble.push(title)
  }
  return counts
}
