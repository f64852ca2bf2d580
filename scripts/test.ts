/**
 * Every test, and one closing line over all of them: `N passed, N failed`.
 *   npm test                     everything
 *   npm test -- unit node        only these suites: checks, node, unit, native, integration, e2e
 */
import {spawn} from 'node:child_process'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {buildNative} from './build-native.ts'
import {prepareMachine} from './prepare.ts'
import {pythonTools} from './python-checks.ts'

interface Counts {
  passed: number
  failed: number
  skipped: number
  /** What failed or was skipped, a line each: said again at the end, where people look. */
  trouble: string[]
}

/** What vitest's JSON report says of a file. */
interface FileReport {
  name: string
  status: string
  message: string
  assertionResults: {fullName: string; status: string; failureMessages: string[]}[]
}

const root = resolve(import.meta.dirname, '..')
const bin = (name: string): string => join(root, 'node_modules', '.bin', name)
const suites: Record<string, () => Promise<Counts>> = {
  checks: runChecks,
  node: () => runPython(['-W', 'error::ResourceWarning', 'test/node/run.py']),
  unit: () => runVitest('unit'),
  native: () => runPython(['test/native/run.py']),
  integration: () => runVitest('integration'),
  e2e: () => runVitest('e2e'),
}
const chosen = process.argv.slice(2).length > 0 ? process.argv.slice(2) : Object.keys(suites)

/** Types, lint, layers and generated files, of both languages: each is one test that passes or fails. */
async function runChecks(): Promise<Counts> {
  const tools = await pythonTools()
  const checks: [string, string, string[]][] = [
    ['types', bin('tsc'), ['-p', 'tsconfig.json']],
    ['lint and layers', process.execPath, ['scripts/lint.ts']],
    ['generated documents are current', process.execPath, ['scripts/docs.ts', '--check']],
    ['layers of the node program', 'env', ['PYTHONPATH=node', join(tools, 'lint-imports'), '--no-cache', '--no-logo']],
    ['lint of the node program', join(tools, 'ruff'), ['check', '--no-cache']],
    ['types of the node program', join(tools, 'mypy'), ['--cache-dir', join(root, 'node_modules/.cache/mypy')]],
    ['lock files belong to their inputs', process.execPath, ['scripts/locks.ts', '--check']],
  ]
  const counts: Counts = {passed: 0, failed: 0, skipped: 0, trouble: []}
  for (const [title, command, args] of checks) {
    const {status} = await run(command, args)
    console.log(`${status === 0 ? ' ✓' : ' ✗'} ${title}`)
    counts[status === 0 ? 'passed' : 'failed']++
    if (status !== 0) counts.trouble.push(title)
  }
  return counts
}

/** A runner whose last line is its counts. */
async function runPython(words: string[]): Promise<Counts> {
  const {stdout} = await run('python3', words, true)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Counts
}

async function runVitest(project: string): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-report-'))
  const report = join(folder, 'report.json')
  try {
    const {status} = await run(process.execPath, [bin('vitest'), 'run', '--project', project, '--reporter', 'default', '--reporter', 'json', '--outputFile', report])
    const found = JSON.parse(await readFile(report, 'utf8')) as {numPassedTests: number; numFailedTests: number; numPendingTests: number; numFailedTestSuites: number; testResults: FileReport[]}
    // A file that does not load has no failed test in it, yet it is a failure.
    const failed = Math.max(found.numFailedTests, status === 0 ? 0 : 1)
    return {passed: found.numPassedTests, failed, skipped: found.numPendingTests, trouble: found.testResults.flatMap(troubleOf)}
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
}

/** Hooks that fail skip all tests of their file, and only the file's message says why. */
function troubleOf(file: FileReport): string[] {
  const tests = file.assertionResults.filter(({status}) => status !== 'passed')
  const ofFile = file.status === 'failed' && file.message ? [`${file.name}: ${firstLine(file.message)}`] : []
  const failed = tests.filter(({status}) => status === 'failed').map((test) => `${file.name}: ${test.fullName}: ${firstLine(test.failureMessages[0] ?? '')}`)
  const skipped = tests.length - failed.length
  return [...ofFile, ...failed, ...(skipped > 0 ? [`${file.name}: ${skipped} skipped`] : [])]
}

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? ''

async function run(command: string, args: string[], capture = false): Promise<{status: number; stdout: string}> {
  const child = spawn(command, args, {cwd: root, stdio: ['ignore', capture ? 'pipe' : 'inherit', 'inherit']})
  let stdout = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  const status = await new Promise<number>((done, fail) => child.on('error', fail).on('close', (code) => done(code ?? 1)))
  return {status, stdout}
}

await prepareMachine()
// Once for all suites that run the product; without it their GPU tests fail, the others do not.
if (chosen.some((name) => name === 'integration' || name === 'e2e')) await buildNative().catch((error: Error) => console.error(`!! ${error.message}`))
const total: Counts = {passed: 0, failed: 0, skipped: 0, trouble: []}
for (const name of chosen) {
  const suite = suites[name]
  if (!suite) throw new Error(`no suite ${name}; there are ${Object.keys(suites).join(', ')}`)
  console.log(`\n── ${name}`)
  const started = performance.now()
  const counts = await suite().catch((error: Error): Counts => {
    console.error(`the suite ${name} could not run: ${error.message}`)
    return {passed: 0, failed: 1, skipped: 0, trouble: [`${name}: ${error.message}`]}
  })
  console.log(`── ${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += counts[key]
  total.trouble.push(...counts.trouble)
}
if (total.trouble.length > 0) console.log(`\n── not passed\n${total.trouble.map((line) => `  ${line.slice(0, 300)}`).join('\n')}`)
console.log(`\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
